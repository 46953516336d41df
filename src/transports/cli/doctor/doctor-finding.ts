/** One line of the examination. `idle`: not there, and nothing wrong with that. */
export interface DoctorFinding {
  readonly check: string;
  readonly status: 'ok' | 'wrong' | 'idle';
  readonly message: string;
  /** What to do about it. */
  readonly fix?: string | undefined;
}

export const ok = (check: string, message: string): DoctorFinding => ({ check, status: 'ok', message });
export const idle = (check: string, message: string, fix?: string): DoctorFinding => ({
  check,
  status: 'idle',
  message,
  fix,
});
export const wrong = (check: string, message: string, fix: string): DoctorFinding => ({
  check,
  status: 'wrong',
  message,
  fix,
});
