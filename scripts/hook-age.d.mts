export function hookIsOld(root: string): boolean;
