/** Names are shown to other agents and in terminals: nothing a terminal obeys, nothing invisible. */
export const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
