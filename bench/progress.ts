/** One line that says where we are: rewritten on a terminal, plain lines elsewhere. Always on stderr. */
export interface Progress {
  say(text: string): void;
  /** For what must not be overwritten: a missing peer, a failed goal. */
  shout(text: string): void;
  done(): void;
}

export function openProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  let shown = false;
  const clear = (): void => {
    if (shown) stream.write('\r\x1b[2K');
    shown = false;
  };
  return {
    say(text) {
      if (!stream.isTTY) {
        stream.write(`${text}\n`);
        return;
      }
      clear();
      stream.write(text.slice(0, Math.max(20, (stream.columns ?? 100) - 1)));
      shown = true;
    },
    shout(text) {
      clear();
      stream.write(`!! ${text}\n`);
    },
    done: clear,
  };
}
