import { hostOn } from "./transom.js";
export default hostOn(false);
