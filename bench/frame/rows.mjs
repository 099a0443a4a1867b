/** Builds rows from figures: { row, ours, peer, ratio, range, reach, ok } with unit, durability and reasons. */
import { contenders } from './contenders.mjs';

const holds = {
  '≥': (value, limit) => value >= limit,
  '>': (value, limit) => value > limit,
  '≤': (value, limit) => value <= limit,
  '<': (value, limit) => value < limit,
};

export const toRows = (specs, figures) => specs.map((spec) => toRow(spec, figures));

function toRow(spec, figures) {
  const ours = figures.of(spec.ours, spec.measure);
  const peer = peerOf(spec, figures);
  const ratio = peer && ours.value !== undefined && peer.value ? ours.value / peer.value : null;
  const isComplete = ours.value !== undefined && (peer === null || peer.value !== undefined);
  const value = peer === null ? ours.value : ratio;
  const [sign, limit] = spec.reach ?? [];
  return {
    row: spec.row,
    ours: ours.value ?? null,
    peer: peer?.value ?? null,
    ratio,
    // The ratios that the lowest and highest rounds of the two sides allow.
    range: ratio === null ? null : [ours.lowest / peer.highest, ours.highest / peer.lowest],
    reach: sign ? `${sign} ${limit}${peer === null ? ` ${spec.unit}` : ' ×'}` : null,
    ok: sign && isComplete ? holds[sign](value, limit) : sign ? false : null,
    unit: spec.unit,
    against: peer?.title ?? null,
    durability: { ours: contenders[spec.ours].durability, peer: peer?.durability ?? null },
    short: sign && isComplete && !holds[sign](value, limit) ? value / limit : null,
    void: ours.reason ? `Longhaul: ${ours.reason}` : peer?.reason ? `${peer.title}: ${peer.reason}` : null,
  };
}

/** Returns the peer of a row; of several peers the fastest: that with the highest rate, or with the lowest time. */
function peerOf(spec, figures) {
  if (spec.peerMeasure) return { ...figures.of(spec.ours, spec.peerMeasure), title: spec.against };
  if (!spec.peer) return null;
  const all = spec.peer.map((name) => ({ ...figures.of(name, spec.measure), ...pick(contenders[name]) }));
  const place = ({ value }) => (value === undefined ? Number.MAX_VALUE : spec.isLowest ? value : -value);
  const best = all.toSorted((a, b) => place(a) - place(b))[0];
  return all.length > 1 ? { ...best, title: `${best.title} (${spec.among ?? 'the fastest'})` } : best;
}

const pick = ({ title, durability }) => ({ title, durability });
