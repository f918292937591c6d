import { asker } from "./_rivals.ts";

await asker();
