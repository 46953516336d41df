const OTHER_CONTENT =
  'our tools, resources and prompts answer JSON as text; images, audio and embedded resources have no use here';
const ASKS_CLIENT =
  'we never ask the client back: no sampling, no elicitation, no roots, no input-required results';
const NO_LOGGING = 'no logging to clients (deprecated in 2026-07-28); the audit trail is the log';
const NO_COMPLETION = 'no argument completion: paths are the client’s own, everything else is short';
const NO_TEMPLATES = 'resources are few and fixed; there are no templates';
const NO_TASKS = 'an extension (tasks) that we do not declare; waiting is part of a call';
const NO_HEADERS = 'no tool maps its arguments to HTTP headers (x-mcp-header)';

/**
 * Checks of the conformance runner that do not apply, and why: a scenario, or a single check of it after a slash. Whatever
 * else fails is a fault of ours; one of these that no longer fails has to leave the list.
 */
export const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  'completion-complete': NO_COMPLETION,
  'tools-call-image': OTHER_CONTENT,
  'tools-call-audio': OTHER_CONTENT,
  'tools-call-embedded-resource': OTHER_CONTENT,
  'tools-call-mixed-content': OTHER_CONTENT,
  'resources-read-binary': OTHER_CONTENT,
  'prompts-get-embedded-resource': OTHER_CONTENT,
  'prompts-get-with-image': OTHER_CONTENT,
  'resources-templates-read': NO_TEMPLATES,
  'logging-set-level': NO_LOGGING,
  'tools-call-with-logging': NO_LOGGING,
  'tools-call-sampling': ASKS_CLIENT,
  'tools-call-elicitation': ASKS_CLIENT,
  'elicitation-sep1034-defaults': ASKS_CLIENT,
  'elicitation-sep1330-enums': ASKS_CLIENT,
  'server-stateless/sep-2575-server-rejects-undeclared-capability': ASKS_CLIENT,
  'server-stateless/sep-2575-missing-capability-http-400': ASKS_CLIENT,
  'server-stateless/sep-2575-http-server-no-independent-requests-on-stream': ASKS_CLIENT,
  'input-required-result-basic-elicitation': ASKS_CLIENT,
  'input-required-result-basic-sampling': ASKS_CLIENT,
  'input-required-result-basic-list-roots': ASKS_CLIENT,
  'input-required-result-request-state': ASKS_CLIENT,
  'input-required-result-multiple-input-requests': ASKS_CLIENT,
  'input-required-result-multi-round': ASKS_CLIENT,
  'input-required-result-non-tool-request': ASKS_CLIENT,
  'input-required-result-result-type': ASKS_CLIENT,
  'input-required-result-tampered-state': ASKS_CLIENT,
  'input-required-result-capability-check': ASKS_CLIENT,
  'json-schema-2020-12':
    'tool schemas are listed tersely, without the keywords this looks for in a tool of its own',
  'http-custom-header-server-validation': NO_HEADERS,
  'tasks-lifecycle': NO_TASKS,
  'tasks-capability-negotiation': NO_TASKS,
  'tasks-wire-fields': NO_TASKS,
  'tasks-request-state-removal': NO_TASKS,
  'tasks-mrtr-input': NO_TASKS,
  'tasks-request-headers': NO_TASKS,
  'tasks-dispatch-and-envelope': NO_TASKS,
  'tasks-required-task-error': NO_TASKS,
  'tasks-mrtr-composition': NO_TASKS,
};
