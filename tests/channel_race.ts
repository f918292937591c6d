import { exploreAll } from "./explore.ts";
import { channel } from "./scenarios/channel.ts";

exploreAll("Channel", channel);
