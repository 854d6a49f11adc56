// What a test claims: each claim is a sentence, and all are looked at though some do not hold.

// Claims; `that` looks at one, `end` says how it went and ends the program.
export function claims() {
  const failed = [];
  let held = 0;
  return {
    that: async (sentence, work) => {
      const started = Date.now();
      try {
        await work();
        held += 1;
        console.log(`✓ ${sentence} (${Date.now() - started} ms)`);
      } catch (error) {
        failed.push(sentence);
        console.log(`✗ ${sentence}: ${error.message}`);
      }
    },
    end: (about) => {
      failed.forEach((sentence) => console.error(`does not hold: ${sentence}`));
      console.log(`${held} of ${held + failed.length} claims about ${about} hold`);
      process.exitCode = failed.length === 0 ? 0 : 1;
    },
  };
}
