/** The handler: it computes without a pause, in a process of its own. */
import { defineHandler } from 'longhaul/handler';

export default defineHandler((job) => {
  let found = 0;
  for (let number = 2; number <= job.data.up; number++) {
    if (isPrime(number)) found += 1;
    if (number % 10_000 === 0) job.progress((100 * number) / job.data.up);
  }
  console.log(`${found} primes`); // the log of the job
  return found;
});

function isPrime(number) {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false;
  return true;
}
