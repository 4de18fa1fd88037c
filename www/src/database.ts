import { CountersignError, messageOf } from "./error.js";

/** The version of the schema. Where a later version of the page has raised it, this one reads and does not write. */
const VERSION = 1;

/** How long a call waits for the database to be opened before it says that something is in the way, in milliseconds. */
const PATIENCE = 5000;

/**
 * One IndexedDB database: opened by the first call, and again after the browser closed it. Every rejection is a
 * {@link CountersignError}, of code `storage` unless the work of a transaction throws its own.
 *
 * @internal
 */
export class Database {
  /** Set once it is known that this page has no IndexedDB: why, as a sentence. */
  missing: string | undefined;
  /** Whether a newer version of the page has upgraded the database. */
  readOnly = false;
  readonly #name: string;
  readonly #stores: string[];
  #opening: Promise<IDBDatabase | undefined> | undefined;
  /** There was a database once: that it cannot be opened again does not mean that there never was one. */
  #seen = false;
  /** Set once the connection was given up for a newer version of the page. */
  #outdated: CountersignError | undefined;

  constructor(name: string, stores: string[]) {
    this.#name = name;
    this.#stores = stores;
  }

  /** Whether this page has a database; if not, `missing` says why. Opens it. */
  async exists(): Promise<boolean> {
    return (await this.#connect()) !== undefined;
  }

  /** Runs one transaction and resolves when it is complete; if `work` throws, nothing of it is written. */
  async run<T>(
    mode: IDBTransactionMode,
    stores: string[],
    work: (store: (name: string) => IDBObjectStore) => Promise<T> | T,
    durability: IDBTransactionDurability = "strict",
  ): Promise<T> {
    const { db, transaction } = await this.#begin(mode, stores, durability);
    const end = new Promise<void>((complete, aborted) => {
      transaction.oncomplete = () => complete();
      transaction.onabort = () => aborted(transaction.error ?? new Error("the browser aborted a transaction"));
    });
    try {
      const [result] = await Promise.all([work((name) => transaction.objectStore(name)), end]);
      return result;
    } catch (thrown) {
      try {
        transaction.abort();
      } catch {
        // It has ended.
      }
      if (thrown instanceof CountersignError) throw thrown;
      // A connection that failed may fail for ever, and a new one work.
      if (!isNamed(thrown, "QuotaExceededError")) this.#drop(db);
      throw storage(thrown);
    }
  }

  async #begin(mode: IDBTransactionMode, stores: string[], durability: IDBTransactionDurability) {
    for (let tried = false; ; tried = true) {
      const db = await this.#connect();
      if (!db) throw failure(this.missing ?? "");
      if (mode === "readwrite" && this.readOnly) {
        throw failure("A newer version of this page wrote the stored chats, and this one can only read them: reload.");
      }
      try {
        return { db, transaction: db.transaction(stores, mode, { durability }) };
      } catch (thrown) {
        // The browser closed it, and its event is still to come.
        this.#drop(db);
        if (tried || !isNamed(thrown, "InvalidStateError")) throw storage(thrown);
      }
    }
  }

  /** The connection; undefined where there is no IndexedDB. */
  async #connect(): Promise<IDBDatabase | undefined> {
    if (this.#outdated) throw this.#outdated;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const advice = "close or reload the other tabs of this site, then try again.";
        reject(failure(`The browser has not opened the stored chats, as another tab may be in the way: ${advice}`));
      }, PATIENCE);
    });
    // Who comes after one that was late waits for the same opening: it goes on.
    this.#opening ??= this.#open();
    return Promise.race([this.#opening, late]).finally(() => clearTimeout(timer));
  }

  async #open(): Promise<IDBDatabase | undefined> {
    try {
      const db = await this.#request(VERSION).catch((thrown) => {
        if (isNamed(thrown, "VersionError")) return this.#request();
        throw thrown;
      });
      this.readOnly = db.version > VERSION;
      this.#seen = true;
      return db;
    } catch (thrown) {
      // A frame without an origin, site data that are blocked, or private windows of older browsers.
      const none = thrown instanceof NoIndexedDB || isNamed(thrown, "SecurityError", "InvalidStateError");
      if (none && !this.#seen) {
        this.missing = `This page may not store anything (${messageOf(thrown)}): its chats end with it.`;
        return undefined;
      }
      this.#opening = undefined;
      throw this.#outdated ?? storage(thrown);
    }
  }

  #request(version?: number): Promise<IDBDatabase> {
    return new Promise((opened, failed) => {
      let request: IDBOpenDBRequest;
      try {
        request = globalThis.indexedDB.open(this.#name, version);
      } catch (thrown) {
        throw new NoIndexedDB(globalThis.indexedDB ? messageOf(thrown) : "there is no IndexedDB");
      }
      request.onupgradeneeded = () => {
        const { result: db } = request;
        for (const store of this.#stores) if (!db.objectStoreNames.contains(store)) db.createObjectStore(store);
      };
      request.onerror = () => failed(request.error);
      request.onsuccess = () => {
        const db = request.result;
        db.onclose = () => this.#drop(db);
        db.onversionchange = ({ newVersion }) => {
          this.#drop(db);
          // Null is a deletion, after which there is a new, empty database.
          if (newVersion !== null) {
            this.#outdated = failure("Another tab runs a newer version of this page: reload this one to go on.");
          }
        };
        opened(db);
      };
    });
  }

  /** Has the next call open a new connection. */
  #drop(db: IDBDatabase): void {
    db.close();
    this.#opening = undefined;
  }
}

/** @internal What a request gives; within a transaction's work, nothing else may be waited for. */
export function ask<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((given, failed) => {
    request.onsuccess = () => given(request.result);
    request.onerror = () => failed(request.error);
  });
}

class NoIndexedDB extends Error {}

function isNamed(thrown: unknown, ...names: string[]): boolean {
  return names.includes((thrown as Error | null)?.name ?? "");
}

function failure(message: string, cause?: unknown): CountersignError {
  return new CountersignError("storage", message, cause);
}

function storage(thrown: unknown): CountersignError {
  if (isNamed(thrown, "QuotaExceededError")) {
    return failure(
      "The browser's storage for this site is full, so nothing was written: delete chats, or free space on the disk.",
      thrown,
    );
  }
  return failure(`The browser could not use the stored chats (${messageOf(thrown)}): reload the page.`, thrown);
}
