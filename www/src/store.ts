import { enter } from "./wasm.js";
import { RawMemoryStore } from "./wasm/countersign.js";

const raws = new WeakMap<MemoryStore, RawMemoryStore>();

/** Keeps chats in memory: they do not survive a reload of the page. */
export class MemoryStore {
  /** Made by {@link memoryStore}. */
  readonly kind = "memory";
}

/** A store in memory, to be shared by the agents it is passed to. */
export function memoryStore(): MemoryStore {
  return new MemoryStore();
}

/** @internal The wasm side of a store, made on first use. */
export function rawStore(store: MemoryStore): RawMemoryStore {
  let raw = raws.get(store);
  if (!raw) {
    raw = enter(() => new RawMemoryStore());
    raws.set(store, raw);
  }
  return raw;
}
