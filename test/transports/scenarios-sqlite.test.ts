import { playAll } from './stage.ts';
import { scratch } from './support.ts';

playAll('SQLite', scratch);
