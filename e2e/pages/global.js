// The client as a classic script makes it known: the global `transom`.
import * as transom from "transom";

globalThis.transom = transom;
