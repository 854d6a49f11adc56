// A person opens an address in the browser and signs in there with a key.
//
//     SIGN_IN_KEY=… node login.mjs URL
//
// URL is that of /authorize, as a client gives it to the browser. Prints the status of the client's own answer, and the
// name of the client as the page shows it.

import { keyOfThePerson, login } from './browser.mjs';

console.log(await login(process.argv[2], keyOfThePerson()));
