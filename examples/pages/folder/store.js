// Handles of folders live in IndexedDB: no other storage holds them.
const STORE = "folders";

export const save = (key, folder) => use("readwrite", (store) => store.put(folder, key));
export const load = (key) => use("readonly", (store) => store.get(key));

function use(mode, work) {
  return new Promise((done, failed) => {
    const opening = indexedDB.open("folder-reader", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onerror = () => failed(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      const asked = work(database.transaction(STORE, mode).objectStore(STORE));
      asked.onsuccess = () => done(asked.result);
      asked.onerror = () => failed(asked.error);
      asked.transaction.oncomplete = asked.transaction.onabort = () => database.close();
    };
  });
}
