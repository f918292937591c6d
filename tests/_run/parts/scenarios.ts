// limit: 1800 s
// The race scenarios of one folder, every interleaving.
import { explore } from "../explore.ts";
import { thisFolder } from "../folders.ts";
import { suite } from "../harness.ts";
import { scenariosIn } from "../scenario.ts";
import { weft } from "../weft.ts";

/** Only a hanging test takes this long: the machine may be busy. */
const LIMIT = 900_000;

const folder = thisFolder();
const test = suite(`${folder}, every interleaving`, LIMIT);
for (const scenario of (await scenariosIn(folder))(weft)) {
  if (scenario.deep) continue;
  test(scenario.name, async () => void await explore(scenario));
}
