new library.App({ name: "again", version: "1" }, {}, { autoResize: false })
  .connect()
  .then(
    () => location.reload(),
    () => location.reload(),
  );
