/**
 * Members that only our own modules say to each other, and what they are called in the build: nothing that a user
 * writes or a peer sends. Fixed, because each module is built on its own. `npm run pack:test` fails when one of them is
 * a member of something that the package exports.
 */
export const MANGLED = {
  tell: "t",
  end: "e",
  emit: "m",
  drop: "d",
  run: "r",
  had: "h",
  trial: "l",
  clean: "c",
  until: "u",
  asked: "a",
  strays: "s",
  home: "g",
  queue: "f",
  due: "o",
  heard: "w",
  rest: "y",
  begin: "b",
  chosen: "n",
  depart: "v",
  confirm: "i",
  pass: "p",
};
