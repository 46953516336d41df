import type { FailurePolicy, FileStatus, TaskStatus } from '../features/queue/index.ts';
import type { SessionStatus } from '../features/sessions/index.ts';
import type { Json } from '../kernel/json.ts';
import type { Refusal } from '../kernel/refusal.ts';

// What the operations answer on success; times are ISO texts. An operation that is not listed here answers `{
// success: true }` and further fields. A test compiles real answers against these types.

interface Done {
  success: true;
}

export interface Grant {
  action: 'acquired' | 'refreshed';
  file_path: string;
  shared?: true;
  expires_at: string;
  fencing_token: number;
}

/** A field that only one of the answers has can be read on both. */
type Without<T, K extends keyof T> = { [F in K]?: undefined };

interface Waited {
  waited_seconds?: number;
}

type Acquired = Done &
  Waited &
  (
    | (Grant & { locks?: undefined })
    | ({ action: Grant['action']; locks: Grant[] } & Without<Grant, Exclude<keyof Grant, 'action'>>)
  );

interface Released extends Done {
  released: true;
  file_path: string;
  results?: undefined;
}

/** With several paths each has its own answer; `success` says whether all succeeded. */
interface ReleasedSeveral {
  success: boolean;
  released: boolean;
  results: (Omit<Released, 'results'> | Refusal)[];
  file_path?: undefined;
  message?: undefined;
}

export interface HeldLock {
  file_path: string;
  locked_by: string;
  agent_type: string;
  session_id: string;
  shared?: true;
  locked_at: string;
  expires_at: string;
  fencing_token: number;
  reason?: string;
}

export interface LockWaiter {
  file_path: string;
  agent_id: string;
  agent_type: string;
  shared?: true;
  waiting_since_at: string;
}

interface Locks extends Done {
  locks: HeldLock[];
  waiting?: LockWaiter[];
  truncated?: true;
}

interface Submitted {
  task_id: string;
  status: TaskStatus;
  existing?: true;
}

export interface Claim {
  task_id: string;
  task_type: string;
  task_description: string;
  input_data?: Json;
  priority: number;
  files?: string[];
  failed_dependencies?: string[];
  attempt: number;
  expires_at: string;
  fencing_token: number;
}

interface Completed extends Done {
  status: 'completed' | 'failed';
  task_id: string;
  has_dependents?: true;
}

interface CompletedSeveral {
  success: boolean;
  completed: number;
  results: (Completed | ({ task_id: string } & Refusal))[];
  message?: undefined;
}

export interface Task {
  task_id: string;
  status: TaskStatus;
  task_type: string;
  task_description: string;
  input_data?: Json;
  priority: number;
  files?: string[];
  depends_on?: string[];
  waiting_for?: string[];
  failed_dependencies?: string[];
  on_dependency_failure?: FailurePolicy;
  attempt_count: number;
  max_attempts: number;
  submitted_by: string;
  created_at: string;
  not_before?: string;
  claimed_by?: string;
  expires_at?: string;
  ended_at?: string;
  result?: Json;
  error_message?: string;
  /**
   * For a task that is a file in a work directory: its agent, the file's contents, its folder and its name.
   */
  agent?: string;
  file_status?: FileStatus | 'being_written';
  started_by?: string;
  file_path?: string;
  task_file?: string;
  waits_for_files?: string[];
}

/** A task that is a file, in a list. */
export type FiledTask = Pick<
  Task,
  | 'task_id'
  | 'status'
  | 'agent'
  | 'file_status'
  | 'started_by'
  | 'priority'
  | 'file_path'
  | 'task_description'
>;

interface Changed extends Done {
  task_id: string;
  status: TaskStatus;
}

export interface Handoff {
  handoff_id: string;
  agent_name: string;
  session_id: string;
  summary: string;
  completed_work: string[];
  in_progress: string[];
  decisions: string[];
  next_steps: string[];
  relevant_files: string[];
  created_at: string;
}

interface Registered extends Done {
  session_id: string;
  agent_id: string;
  status: 'active';
  resumed?: true;
  /** Given out once: a repeated call answers without it. */
  session_token?: string;
  handoff: Handoff | null;
  unread_messages: number;
}

export interface Agent {
  agent_id: string;
  agent_type: string;
  session_id: string;
  capabilities: string[];
  status: SessionStatus;
  current_task: string | null;
  started_at: string;
  last_heartbeat: string;
  ended_at?: string;
}

interface Freed extends Done {
  locks_released: number;
  tasks_returned: number;
}

export interface Message {
  message_id: string;
  thread_id: string;
  from: string;
  to: string;
  recipients?: string[];
  addressed_to?: string;
  subject?: string;
  body: string;
  in_reply_to?: string;
  sent_at: string;
  acknowledged_at?: string;
}

export interface Answers {
  acquireLock: Acquired;
  releaseLock: Released | ReleasedSeveral;
  checkLocks: Locks;
  submitWork: Done & Submitted;
  getWork: Done & Claim;
  completeWork: Completed;
  renewWork: Done & Pick<Claim, 'task_id' | 'expires_at' | 'fencing_token'>;
  showWork: Done & Task;
  listWork: Done & { pending: Task[]; claimed: Task[]; delayed: Task[]; filed?: FiledTask[] };
  cancelWork: Changed & { has_dependents?: true };
  reprioritiseWork: Changed & { priority: number };
  retryWork: Changed;
  submitWorkBatch: Done & { tasks: Submitted[] };
  getWorkBatch: Done & { tasks: Claim[] };
  completeWorkBatch: CompletedSeveral;
  registerSession: Registered;
  heartbeat: Done & { session_id: string; resumed?: true };
  discoverAgents: Done & { agents: Agent[] };
  endSession: Freed & { session_id: string };
  cleanupDeadAgents: Freed & { agents_cleaned: number };
  writeHandoff: Done & { handoff_id: string };
  readHandoff: Done & { handoffs: Handoff[] };
  sendMessage: Done & { message_id: string; thread_id: string; recipients: string[] };
  readInbox: Done & { messages: Message[] };
  acknowledgeMessage: Done & { acknowledged: number };
}
