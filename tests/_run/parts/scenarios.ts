// limit: 1800 s
// The race scenarios of one folder: the first states of each, and with `--all`
// every interleaving. Most scenarios have no more than the first states.
import { all } from "../depth.ts";
import { explore, exploreFirst } from "../explore.ts";
import { thisFolder } from "../folders.ts";
import { cut, suite } from "../harness.ts";
import { scenariosIn } from "../scenario.ts";
import { weft } from "../weft.ts";

/** Only a hanging test takes this long: the machine may be busy. */
const LIMIT = 900_000;

const folder = thisFolder(import.meta.url);
const test = suite(`${folder}, every interleaving`, LIMIT);
for (const scenario of (await scenariosIn(folder))(weft)) {
  test(scenario.name, async () => {
    if (all()) return void await explore(scenario, folder);
    const { complete } = await exploreFirst(scenario, folder);
    if (!complete && !scenario.sampled) cut(scenario.name);
  });
}
