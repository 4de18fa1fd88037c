/** What tells of a trap: the module's memory is in no state to go on with, whoever called into it. */
let tell: (trap: WebAssembly.RuntimeError) => void = () => {};

/** @internal Has `hear` called at the first sign of a trap, before anybody else sees it. */
export function onTrap(hear: (trap: WebAssembly.RuntimeError) => void): void {
  tell = hear;
}

/** @internal The module's exports, watched: calls come from the page, from events and from promises alike. */
export function watched<T extends WebAssembly.Exports>(exports: T): T {
  const all = Object.entries(exports).map(([name, value]) => {
    if (typeof value !== "function") return [name, value];
    const call = (...given: unknown[]) => {
      try {
        return value(...given);
      } catch (thrown) {
        if (thrown instanceof WebAssembly.RuntimeError) tell(thrown);
        throw thrown;
      }
    };
    return [name, call];
  });
  return Object.fromEntries(all);
}
