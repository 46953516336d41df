import { files, memory, postgres, sqlite } from '../conformance/engine.ts';
import { oneScriptCases } from './one-script-cases.ts';

oneScriptCases([memory, sqlite, files, postgres]);
