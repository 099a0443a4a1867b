/** Builds rows from figures: { row, ours, peer, ratio, reach, ok } with unit, durability and reasons. */
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
    reach: sign ? `${sign} ${limit}${peer === null ? ` ${spec.unit}` : ' ×'}` : null,
    ok: sign && isComplete ? holds[sign](value, limit) : sign ? false : null,
    unit: spec.unit,
    against: peer?.title ?? null,
    durability: { ours: contenders[spec.ours].durability, peer: peer?.durability ?? null },
    short: sign && isComplete && !holds[sign](value, limit) ? value / limit : null,
    void: ours.reason ? `Longhaul: ${ours.reason}` : peer?.reason ? `${peer.title}: ${peer.reason}` : null,
  };
}

/** Returns the peer of a row; of several peers the fastest. Only rates have more than one peer. */
function peerOf(spec, figures) {
  if (spec.peerMeasure) return { ...figures.of(spec.ours, spec.peerMeasure), title: spec.against };
  if (!spec.peer) return null;
  const all = spec.peer.map((name) => ({ ...figures.of(name, spec.measure), ...pick(contenders[name]) }));
  const best = all.toSorted((a, b) => (b.value ?? 0) - (a.value ?? 0))[0];
  return all.length > 1 ? { ...best, title: `${best.title} (the fastest)` } : best;
}

const pick = ({ title, durability }) => ({ title, durability });
