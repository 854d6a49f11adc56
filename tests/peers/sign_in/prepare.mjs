// Fetches and compiles the contracts. It runs before the tests, where npm still has its settings.
import { contracts } from './contracts.mjs';

const made = await contracts();
console.log(`${Object.keys(made).length} contracts`);
