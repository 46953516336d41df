export { promotionEntity } from './state.ts';
export { underWayEntity } from './under-way.ts';
