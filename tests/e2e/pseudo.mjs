/** A language that nobody speaks: English with accents, in brackets, and 40 % longer. What is not of it was not looked up. */

const ACCENTED = Object.fromEntries(
  [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((letter, place) => [
    letter,
    [..."áƀçđéƒĝĥíĵķłɱñóƥǫŕšŧúṽŵẋýžÁƁÇĐÉƑĜĤÍĴĶŁṀÑÓƤǪŔŠŦÚṼŴẊÝŽ"][place],
  ]),
);

/** The messages of `english` in that language; its plural rules and numbers are those of Esperanto. */
export function pseudo(english) {
  const say = (phrase) =>
    typeof phrase === "string"
      ? accented(phrase)
      : Object.fromEntries(Object.entries(phrase).map(([form, text]) => [form, say(text)]));
  const messages = Object.entries(english).map(([key, phrase]) => [key, say(phrase)]);
  return { ...Object.fromEntries(messages), locale: "eo", direction: english.direction };
}

/** A text in that language; what stands in braces stays. */
export function accented(text) {
  const said = text.replaceAll(/\{\w+\}|[a-z]/gi, (found) => ACCENTED[found] ?? found);
  return `[${said}${"~".repeat(Math.ceil(text.length * 0.4))}]`;
}
