/** A store's address without its password, for people and logs. */
export function shownStore(url: string): string {
  return url.replace(/^(\w+:\/\/[^/:@]*):.*@/, '$1:***@').replace(/([?&]password=)[^&]*/gi, '$1***');
}
