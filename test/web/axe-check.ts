/** Checks a page with axe. */
import axe from 'axe-core';

export type Evaluator = { evaluate<T>(script: string): Promise<T> };

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Returns the serious and critical violations of a page, which needs `bypassCSP`. */
export async function seriousViolations(page: Evaluator): Promise<readonly string[]> {
  await page.evaluate(`${axe.source};0`);
  // Reports violations only and skips frames, which is most of the work.
  const options = JSON.stringify({ resultTypes: ['violations'], iframes: false, preload: false, elementRef: false });
  const found = await page.evaluate<readonly Violation[]>(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`).join('; ')}`,
    );
}
