/** Stores that are in trouble, as states need them. */

/** @param {{ load(chat: string, from?: number): Promise<string[]> }} store one that gives chats, but no standing permissions */
export const withoutGrants = (store) => ({
  ...store,
  load: async (chat, from) => {
    if (chat === "countersign:grants") throw new Error("the disk cannot be read");
    return store.load(chat, from);
  },
});

/** One that takes the lines of the call, and no decision about it. */
export const full = (store) => ({
  ...store,
  append: async (chat, seq, lines, head) => {
    if (lines.some((line) => /"tool\.call\.(decided|denied)"/.test(line))) throw new Error("the disk is full");
    return store.append(chat, seq, lines, head);
  },
});
