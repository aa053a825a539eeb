import { hostOn } from "./transom.js";
export default hostOn(true);
