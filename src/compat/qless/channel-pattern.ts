/** Patterns of channels as in Redis's PSUBSCRIBE: `*`, `?`, `[abc]`, `[^a-c]`, and `\` before a character of these. */

export const isPattern = (channel: string): boolean => /[*?[\\]/.test(channel);

export function matcherOf(pattern: string): (channel: string) => boolean {
  const source = pattern.replaceAll(/\\(.)|(\*)|(\?)|\[(\^?)([^\]]*)\]|[^]/g, (all, escaped, many, one, not, set) => {
    if (escaped !== undefined) return literal(escaped as string);
    if (many !== undefined) return '[^]*';
    if (one !== undefined) return '[^]';
    if (set !== undefined) return `[${not as string}${(set as string).replaceAll(/[\\[\]^]/g, '\\$&')}]`;
    return literal(all);
  });
  const whole = new RegExp(`^${source}$`);
  return (channel) => whole.test(channel);
}

const literal = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
