/** The schedules of a connection. Nodes and working processes fire them (schedules/schedule-runner.ts). */
import { LonghaulError } from '../core/ports/errors.ts';
import type { Refused } from '../core/ports/refusal.ts';
import type { ScheduleInput } from '../core/schedules/schedule-input.ts';
import {
  deleteSchedule,
  pauseSchedule,
  resumeSchedule,
  runScheduleNow,
  setSchedule,
} from '../schedules/manage-schedules.ts';
import type { Written } from '../schedules/schedule-records.ts';
import { findSchedule, listSchedules } from '../schedules/schedule-records.ts';
import { scheduleViews } from '../schedules/schedule-views.ts';
import type { ScheduleView } from '../wire/schedule-view.ts';
import type { Connection } from './connection.ts';

/** A changed schedule, or a refusal. */
export type ScheduleResult =
  | {
      /** The call succeeded. */
      readonly ok: true;
      /** The schedule after the change. */
      readonly schedule: ScheduleView;
    }
  | Refused;

/** Schedules: rules that create jobs at their run times. */
export class Schedules {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Creates a schedule, or changes the one of that name. The same definition again changes nothing, so a program may set
   * it at every start.
   */
  async set(
    name: string,
    input: ScheduleInput,
  ): Promise<ScheduleView & { readonly outcome: 'created' | 'changed' | 'unchanged' }> {
    const { outcome, schedule } = await setSchedule(this.#connection.store, name, input);
    this.#connection.schedules.wake();
    const [view] = await scheduleViews(this.#connection.store, [schedule], Date.now());
    if (view === undefined) throw new LonghaulError('refused', `schedule ${name} does not exist`);
    return { ...view, outcome };
  }

  /** Returns a schedule, or null when it does not exist. */
  async find(name: string): Promise<ScheduleView | null> {
    const kept = await findSchedule(this.#connection.store.records, name);
    if (kept === null) return null;
    const [view] = await scheduleViews(this.#connection.store, [kept.schedule], Date.now());
    return view ?? null;
  }

  /** Lists the schedules by name. */
  async list(): Promise<readonly ScheduleView[]> {
    const { store } = this.#connection;
    const kept = await listSchedules(store.records);
    const schedules = kept.map(({ schedule }) => schedule);
    return scheduleViews(store, schedules, Date.now());
  }

  /** Pauses a schedule until `resume`. Run times in the pause are not made up. */
  async pause(name: string, note: string | null = null): Promise<ScheduleResult> {
    return this.#toResult(await pauseSchedule(this.#connection.store, name, note));
  }

  /** Resumes a paused schedule. */
  async resume(name: string): Promise<ScheduleResult> {
    return this.#toResult(await resumeSchedule(this.#connection.store, name));
  }

  /** Creates one job now, whatever the rule and the overlap policy. Returns its id. */
  async runNow(name: string): Promise<{ readonly ok: true; readonly id: string } | Refused> {
    const ran = await runScheduleNow(this.#connection.store, name);
    return ran.ok ? { ok: true, id: ran.id } : ran;
  }

  /** Deletes a schedule. Its jobs stay. */
  async delete(name: string): Promise<{ readonly ok: true } | Refused> {
    return deleteSchedule(this.#connection.store, name);
  }

  async #toResult(written: Written): Promise<ScheduleResult> {
    if (!written.ok) return written;
    this.#connection.schedules.wake();
    const [schedule] = await scheduleViews(this.#connection.store, [written.schedule], Date.now());
    if (schedule === undefined) throw new LonghaulError('refused', `schedule ${written.schedule.name} does not exist`);
    return { ok: true, schedule };
  }
}
