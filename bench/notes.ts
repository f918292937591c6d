/**
 * What bounds the figures: findings of profiles and of counted accesses, for
 * docs/benchmarks.md. Times in them are from Node 20.20 and Deno 2.9.6 on two
 * cores of a Xeon or an EPYC; they are no part of a run.
 *
 * @module
 */

/** A finding about some rows of a group. */
export interface Note {
  /** The group, as in `bench/NAME_bench.ts`. */
  readonly group: string;
  /** The rows, by their names. */
  readonly rows: RegExp;
  readonly text: string;
}

/** All findings, in the order of the page. */
export const NOTES: readonly Note[] = [
  {
    group: "beside",
    rows: /100 objects of one shape/,
    text: "See [channel](#channel): writing a message takes longer than " +
      "reading it, and its thread is busy all the time. Beside other " +
      "programs, both threads of both rivals wait for a core.",
  },
  {
    group: "beside",
    rows: /100 letters|a small object|40 names|three numbers/,
    text: "Beside busy processes, the system decides who runs next, and a " +
      "turn of either rival lasts until its thread gives the core away. " +
      "So these figures spread by a factor of two, and the quiet ones say " +
      "more about the code.",
  },
  {
    group: "beside",
    rows: /^Mutex, /,
    text: "The rival is the same lock with a `notify` at each unlock. " +
      "Beside busy processes, both wait for threads that have no " +
      "core, and the ratio of a turn differs by a sixth either way.",
  },
  {
    group: "call_ring",
    rows: /posted ahead/,
    text:
      "In one thread of Node 20, posting a call takes 160 ns, answering it " +
      "120, and receiving the reply 150. In two threads, the line of its slot " +
      "moves four times between the cores: 700 to 1300 ns a call.",
  },
  {
    group: "call_ring",
    rows: /awaiting/,
    text: "Each reply resolves a promise, and the event loop of the caller " +
      "takes a turn for each batch of replies. How the time is shared " +
      "between the two was not measured.",
  },
  {
    group: "calls",
    rows: /comlink/,
    text: "With one call at a time, both sides sleep until the other one " +
      "wakes them, as with `postMessage`: two wakes of the system are " +
      "most of the time. The library gains where several calls are on " +
      "their way. [Notes](performance_notes.md#calls) say what a call " +
      "takes of each thread.",
  },
  {
    group: "channel",
    rows: /of any values, 100 objects/,
    text: "One message has 10.8 KB as JSON. In one thread of Node 20 and " +
      "Deno, it takes 27 to 31 µs to write and 16 to 18 to read, where " +
      "`structuredClone` takes 80 to 93 for both. In two threads the " +
      "writer is busy all the time, and bounds the channel: " +
      "[notes](performance_notes.md#objects) say what writing an object " +
      "takes.",
  },
  {
    group: "channel",
    rows: /of any values, a small object/,
    text: "The thread that writes is busy all the time, and takes longer in " +
      "Node 20 than in Deno. What `postMessage` takes differs by a tenth " +
      "from run to run.",
  },
  {
    group: "channel",
    rows: /of any values, 100 letters/,
    text: "The text is looked at three times: is it Latin-1, how long is it, " +
      "and the copy. What `postMessage` takes differs more from run to " +
      "run than what the channel takes.",
  },
  {
    group: "channel",
    rows: /^Channel, 100 letters/,
    text:
      "[Channel](primitives/channel.md#waiting-and-progress) says what was " +
      "found: in one thread of Node 20, a `send` and a `receive` take 160 to " +
      "190 ns each. In two threads they take 420 to 540 ns, because four " +
      "cache lines move between the cores for each message.",
  },
  {
    group: "channel",
    rows: /^Channel, 64 KiB/,
    text: "One copy by V8 to shared memory takes 4 to 6 µs. Node's `Buffer` " +
      "does it in 2.5 µs, and the channel uses it there. A ring of 2 MiB " +
      "instead of 1 MiB took a quarter more in Deno: it does not stay in the " +
      "cache of a core. A new array has to be cleared first, which takes " +
      "longer than the copy.",
  },
  {
    group: "channel",
    rows: /both sides idle before/,
    text:
      "Code that is not compiled yet takes most of the time: in Node 20, a " +
      "`send` takes 45 µs at first, and 3 µs later. So both sides exchange " +
      "5,000 messages before they are measured. The rest are two wakes of the " +
      "system, as for `postMessage`.",
  },
  {
    group: "channel",
    rows: /^Channel, a small object in JSON/,
    text: "[Channel](primitives/channel.md#waiting-and-progress) says what a " +
      "profile of Node 20 showed: `JSON.stringify` and `JSON.parse` take most " +
      "of the time, then the check that JSON loses nothing.",
  },
  {
    group: "channel",
    rows: /^Channel, a (number|record)/,
    text: "A number takes the channel 54 to 69 ns, a record 80 to 140, and " +
      "`postMessage` 1.0 to 2.5 µs. The ratio of two rounds differs by a " +
      "factor of 1.5.",
  },
  {
    group: "channel",
    rows: /^Channel of capacity 0/,
    text: "Each `send` waits until a receiver has come, and `postMessage` " +
      "waits for nobody. A message goes through two words that the other side " +
      "waits for, and takes 6 to 14 µs; in Bun, 7 to 35.",
  },
  {
    group: "hash_map",
    rows: /set of such a text/,
    text:
      "A `set` encodes the key and the value, takes the bucket's lock and " +
      "gives it back: two exchanges more than a `get`. sharedmap's `set` " +
      "takes no longer than its `get`, so the ratio is smaller.",
  },
  {
    group: "hash_map",
    rows: /95 % get, . agents, 100,000/,
    text: "[Notes](performance_notes.md#many-keys) say what bounds these: " +
      "100,000 keys and values do not stay in the caches of a core. The key " +
      "and two or three lines of the map are looks at memory, most of which " +
      "wait for the one before. A tenth of sharedmap's time is less than " +
      "two such looks take. One text that is read again and again comes 16 " +
      "and 22 times as often as from sharedmap.",
  },
  {
    group: "kernel",
    rows: /^(Mutex|Semaphore), /,
    text:
      "Both operations are two locked instructions of the processor, which " +
      "take about 17 ns in both languages. The kernel saves the calls of " +
      "`Atomics`, and needs two calls of its own, which take 6 to 7 ns. How " +
      "long the calls of `Atomics` take depends on the state of the core: " +
      "with a Mutex, JavaScript takes 26 ns or 60 ns, and the kernel 19 ns or " +
      "32 ns, so the ratio is 1.3 in the one state and 1.9 in the other. A " +
      "lock without its class was tried, and saves 1 to 3 ns: see the last " +
      "row. Without a guard, JavaScript takes as long as two bare exchanges.",
  },
  {
    group: "kernel",
    rows: /^SpscQueue, /,
    text: "A push and a pop have one exchange each, so the kernel saves two " +
      "calls of `Atomics`: 57 ns against 33 ns in the one state of the core, " +
      "and 113 ns against 44 ns in the other.",
  },
  {
    group: "kernel",
    rows: /^(Mpmc|LockFree)Queue, push and pop an int/,
    text: "The exchanges of a push and a pop are the same in both languages, " +
      "so the ratio depends on what the processor takes for one. Where a " +
      "processor takes little for a call of `Atomics`, the kernel saves less: " +
      "33 of 56 ns with an MpmcQueue, 44 of 85 ns with a LockFreeQueue.",
  },
  {
    group: "kernel",
    rows: /^WorkCounter, next/,
    text: "`next` is one exchange. Alone, it takes 17 to 22 ns in JavaScript " +
      "and 14 ns in WebAssembly, the call included. So the kernel cannot save " +
      "more than what `next` does beside the exchange. It saves most of that: " +
      "if tasks are taken singly, it keeps no range.",
  },
  {
    group: "kernel",
    rows: /^Mutex in the kernel, lock and unlock/,
    text: "The row of the kernel's two functions is the floor: the same two " +
      "calls without the class. Two calls of an empty function of WebAssembly " +
      "take 6 to 7 ns, and two that exchange a word take 21 to 29 ns. Two " +
      "calls of `Atomics.compareExchange` take 28 ns or 55 ns. That depends on " +
      "the state of the core, which changes within milliseconds: a core of a " +
      "virtual machine may be half of a real one, and its other half may be " +
      "busy. So the ratio is 0.87 in the one state and 0.55 in the other.",
  },
  {
    group: "lock_free_queue",
    rows: /^LockFreeQueue, . to ./,
    text: "See the counts in [Scaling](scaling.md): an element moves through " +
      "two rings, so that a terminated agent blocks nobody. That costs two or " +
      "three exchanges where `MpmcQueue` has one, and three lines that all " +
      "agents write where `MpmcQueue` has one.",
  },
  {
    group: "mpmc_queue",
    rows: /^MpmcQueue/,
    text:
      "A push and a pop have four atomic operations each, and none can be " +
      "left out; [Scaling](scaling.md) says why. JavaScript calls a function " +
      "of the engine for each, which takes 12 to 22 ns. So one element costs " +
      "about 130 ns of calls, spread over the threads. With four producers and " +
      "four consumers there are more threads than cores here. Then the " +
      "figures also depend on how the system shares the cores, which their " +
      "spread shows.",
  },
  {
    group: "mutex",
    rows: /ns sections.*always notifies/,
    text: "While a section runs, all other threads wait. So no lock can pass " +
      "more sections than one thread that never waits, and the row " +
      '"one thread\'s sections without a pause" compares with that. The longer ' +
      "the sections, the less a lock can gain: a rival that wastes 100 ns per " +
      "section loses half of its throughput with sections of 100 ns, and a " +
      "tenth with sections of 1000 ns.",
  },
  {
    group: "mutex",
    rows: /guard\.unlock \/ two bare/,
    text:
      "Without a guard, `lock` and `unlock` take 1.03 times as long as the two " +
      "exchanges. The rest is the guard: an object of 40 bytes. V8 inlines all " +
      "its methods, but allocates it, because `unlock` calls `Atomics`: V8 " +
      "leaves out an object only if no method of it calls a function of the " +
      "engine. Tried in Node 20 and Deno: a guard without a base class, with " +
      "public fields, with one field, and one that does not forget its mutex. " +
      "All are allocated; in Deno they take 1.29 to 1.32 times as long as the " +
      "exchanges. Turns in different states of the core gave figures from 1.35 " +
      "to 2.06 before (see [kernel](#kernel)); now each turn is compared with " +
      "its neighbour.",
  },
  {
    group: "mutex",
    rows: /most \/ least sections/,
    text:
      "A thread that waits looks once in a microsecond, because each look " +
      "takes the cache line from the owner. Meanwhile the owner passes several " +
      "sections, and then the two change places. A lap is about half a " +
      "millisecond, and the mutex is handed over only to a thread that waited " +
      "for a whole millisecond. So within a lap, the thread that looks a " +
      "little more often, or that has the faster core, gets more.",
  },
  {
    group: "mutex",
    rows: /longest wait/,
    text: "The longest wait is one of thousands. The mutex is handed over " +
      "to a thread that has waited for a millisecond; until it has " +
      "woken and has a core, other sections pass. In five rounds it " +
      "was 3.5 to 9.9 ms, and the plain lock's 15 to 54 ms.",
  },
  {
    group: "native",
    rows: /^HashMap, /,
    text: "Texts of nine letters fit in a string of the rival without memory " +
      "of their own. Ours has a seeded hash, reads the version of the bucket " +
      "twice, and checks each place that it reads in memory, because other " +
      "programs write there. The rival takes a number as its own hash. A " +
      "`get` of a number is 199 instructions, and libcuckoo's 151; of a text " +
      "546 and 348. Of ours, the seeded hash is 64 and 137. Maps of 4-byte " +
      "keys and values, and maps of texts that lie in their entries, each " +
      "have a function of their own, in which the compiler knows the form " +
      "of an entry: in turns with the code before, a number took 30 ns, and " +
      "takes 12; a text took 43, and takes 36. libcuckoo took 9 and 22 then. " +
      "The hash alone takes 5.3 ns for a number, for which the rival needs " +
      "none, and 8.4 ns for a text, for which it needs 4.9 ns. Of 1,000 texts " +
      "in no order, ours took 43 ns and libcuckoo 45. Of 100,000, what counts " +
      "is how many looks at memory wait for each other: ours reads a bucket, " +
      "then 1.8 entries, and libcuckoo reads both buckets at once. To fetch " +
      "the value before the key was compared gained nothing.",
  },
  {
    group: "native",
    rows: /^(SpscQueue|spsc_queue<int> of C\+\+), push and pop.*emcc$/,
    text: "In WebAssembly each atomic store is a locked instruction. So " +
      "rigtorp's queue has two in a push and a pop, as ours has, which take " +
      "4.3 ns; two exchanges take 4.8 ns. Ours takes 7 ns: it also checks " +
      "the role of the agent and the size of the elements. Nothing of that " +
      "can be left out. A first exchange outside its loop made 10.2 ns 7.0: " +
      "V8 looks for interrupts in each round of a loop. Tried without gain: " +
      "plain loads of the queue's own index, the rare ways in functions of " +
      "their own, and inlining by force.",
  },
  {
    group: "native",
    rows: /^(MpmcQueue|mpmc_queue<int> of C\+\+), push and pop.*emcc$/,
    text: "Both take 19 to 20 ns, and the rounds of each differ by a " +
      "fiftieth, as the two queues do. What the difference is made of was " +
      "not looked for.",
  },
  {
    group: "native",
    rows: /Queue, two threads that (poll|block).*emcc$/,
    text: "As natively, each queue has several states: who is faster " +
      "decides how often a cache line moves. In WebAssembly, V8 also compiles " +
      "during the turn, in threads of its own.",
  },
  {
    group: "native",
    rows: /^Mutex, (2|8) threads|(2|8) threads.*under emcc$/,
    text: "Two threads that change one line spend their time on its way " +
      "between the cores, for either lock. Which of them gets it again at " +
      "once differs from turn to turn.",
  },
  {
    group: "native",
    rows: /ping and pong.*under emcc$/,
    text: "Both sleep and wake by the same two instructions, and each " +
      "wake takes the system 5 to 10 µs. Natively ours spins for less than " +
      "that; here the thread that is to answer runs too late for it.",
  },
  {
    group: "native",
    rows: /(SpscQueue|spsc_queue<int> of C\+\+), push and pop alone/,
    text: "rigtorp's queue checks nothing, and its push and pop are half as " +
      "many instructions as ours: the time is that of their number. One " +
      "comparison tells an agent that it has its role and that the system " +
      "runs fences; that takes 0.3 ns for each operation, the size of the " +
      "elements 0.15 ns, and each look at a bell 0.1 ns. Without all of " +
      "these the queue takes 1.19 times as long as rigtorp's. Tried without " +
      "gain: an index that is not atomic, other orders of the branches, and " +
      "a way of its own for an agent whose role is new, which made the " +
      "compiler's code for the others slower by 0.7 ns in this bench. gcc " +
      "called one half of a pop until the attribute said inline: 1.1 ns.",
  },
  {
    group: "native",
    rows: /SpscQueue, two threads that poll/,
    text: "Each side reads the other's index when its own copy says full or " +
      "empty, and then waits for that cache line. How often this happens " +
      "depends on which side is faster, so each queue has two states: 5 " +
      "and 20 ns for rigtorp's, 14 and 22 for ours.",
  },
  {
    group: "native",
    rows: /(SpscQueue, two threads that block|ping and pong)/,
    text: "On a quiet machine each side spins until the other one has " +
      "answered: an element takes 12 ns, and a round trip 0.8 µs. Beside " +
      "other programs the other thread may have no core. Then both sleep, " +
      "and a turn measures how fast the system wakes them.",
  },
  {
    group: "native",
    rows: /MpmcQueue, two threads that poll/,
    text: "Each queue has two states, as that of one producer has: 26 and " +
      "40 ns for ours, 12 and 48 for rigtorp's. How often the two " +
      "threads write to the same line decides which one it is.",
  },
  {
    group: "native",
    rows: /^(RwLock|Semaphore), .*alone/,
    text: "The time is that of the locked instructions, about 2.1 ns each. " +
      "The Semaphore has two for each pair of calls, as the rival has. A " +
      "writer of the RwLock has four, on two words: it takes its turn among " +
      "writers, then it takes the lock from readers, and gives both back. " +
      "Four such instructions alone take 8.5 ns, and the lock takes 8.6 ns. " +
      "pthread's takes 6.9 ns, as three do. The word of the turn names its " +
      "owner, by which `abandon` ends the section of a writer that died; " +
      "pthread's lock has nothing of the kind. In one word there is no room " +
      "for the owner beside the readers.",
  },
  {
    group: "pool",
    rows: /tasks of 1 us/,
    text:
      "piscina needs Node, so it runs there in both columns. In two runs, " +
      "one after the other, it took 34 and 41 µs for a task, and the pool " +
      "6.2 µs in Deno and in Node. So the ratio depends on the rival's run.",
  },
  {
    group: "pool",
    rows: /two processes that share nothing/,
    text: "The two processes have two cores. The two workers share them with " +
      "the thread that has the pool.",
  },
  {
    group: "record_ring",
    rows: /100-byte records/,
    text: "A record of 100 bytes with its head lies in two or three cache " +
      "lines, and each of them moves from one core to the other. The ring of " +
      "bare atomics is the floor: it copies the same bytes by a loop, and does " +
      "nothing else but one store for each record and side. ringbuf.js has " +
      "records of one length, so it also writes no head. A profile of Node 20 " +
      "showed 30 % of the time in the getters `byteLength`, `byteOffset` and " +
      "`buffer` of arrays, which take 15 to 30 ns each there, and 15 % in " +
      "`subarray`. Without them a push and a pop in one thread take 185 ns " +
      "(390 before), and 100 ns in the kernel (460). Also tried: a native copy " +
      "of the whole array, which is used now where it needs no view, and loops " +
      "of four words, which take a third less time than loops of one.",
  },
  {
    group: "rivals",
    rows: /processor time|one at a time|to the thread that made it/,
    text: "A call one at a time is two sleeps and two wakes, and its time " +
      "depends on which core the system chooses for each thread: " +
      "turns of one rival differ by a factor of 3 to 11. " +
      "[Notes](performance_notes.md#calls) say what the library does " +
      "in that time.",
  },
  {
    group: "rivals",
    rows: /^syncWorker/,
    text: "As in [sync_calls](#sync_calls): in one state of the cores a " +
      "call takes 13 to 23 µs, in another 95 to 98, for either rival.",
  },
  {
    group: "round_trip",
    rows: /async/,
    text:
      "In a profile of Node 20, the JavaScript of a round trip takes less " +
      "than 5 % of the time. The threads are idle for 36 to 52 % of it, because " +
      "the system has to wake them, and `Atomics.notify` takes 10 %. The " +
      "library adds what the bare floor leaves out: a wait that keeps the " +
      "program alive, that can time out and be aborted, and that a " +
      "blocking call of the same agent can interrupt.",
  },
  {
    group: "round_trip",
    rows: /blocking/,
    text: "The floor has two states. If the system runs both threads on one " +
      "core, a wait and a wake there and back take 2 to 5 µs, because no " +
      "core has to be woken. If it runs them on two cores, they take 18 " +
      "to 20 µs, and spinning takes 1 to 3. In the first state, a thread " +
      "that spins keeps the other one from running, so the library spins " +
      "less and less, and is left with its own steps.",
  },
  {
    group: "spsc_queue",
    rows: /one int at a time/,
    text: "The ring of bare atomics is the floor: Lamport's ring with one " +
      "store for each side, which cannot wait and cannot be closed. SpscQueue " +
      "takes about the same time, so in JavaScript nothing is left to gain.",
  },
  {
    group: "spsc_queue",
    rows: /batches of 64 ints/,
    text: "A profile of Node 20 showed that half of the time went into views " +
      "and getters: `subarray` takes 120 ns, and `buffer`, `byteLength` and " +
      "`byteOffset` of an array take 15 to 30 ns each. Now they are called " +
      "once for an array, not once for a batch: 64 ints through one thread " +
      "take 160 ns (400 before), and 45 ns in the kernel in place (260). What " +
      "is left is the same for all: four cache lines that move to another " +
      "core, and the bench's own loops, which fill and sum up a batch. C takes " +
      "4 to 7 ns an int (see [twins](#twins)), so 1.5 times ringbuf.js is " +
      "close to the speed of C. Loops were tried in place of a native copy; " +
      "they are slower from 48 ints on.",
  },
  {
    group: "spsc_queue",
    rows: /64-byte records/,
    text: "Each record is one cache line that moves to another core. C takes " +
      "42 to 134 ns for that (see [twins](#twins)). Without the getters of " +
      "arrays, a push and a pop in one thread take 100 ns in Node 20 (250 " +
      "before), and 62 ns in the kernel (195). Native copies are slower than a " +
      "loop for these 16 words.",
  },
  {
    group: "struct",
    rows: /view of a struct/,
    text: "A view's getter reads the view's own array and place first, and " +
      "then the word: two loads more than a `DataView` in a variable. In " +
      "Deno the ratio is 1.2.",
  },
  {
    group: "sync_calls",
    rows: /beside/,
    text: "Beside busy processes, the median is the time of two wakes, and " +
      "the p99 is how long the system lets a busy process run, which is " +
      "up to 4 ms. Turns of one rival differ by a factor of 4 to 200 " +
      "there. For 64 KB of text, both copy the text twice; synckit's " +
      "copies are the engine's. [Notes](performance_notes.md#calls) say " +
      "what each thread spends.",
  },
  {
    group: "sync_calls",
    rows: /(numbers, a?sync|JSON), quiet: p99/,
    text:
      "The p99 of a turn is one of its 200 calls, in which something else " +
      "ran, such as the garbage collector or another program. The ratio of " +
      "single turns goes from a tenth to ten.",
  },
  {
    group: "sync_calls",
    rows: /64 KB of text, quiet/,
    text: "Each side copies 64 KB while the other one waits, for longer " +
      "than that spins. So it sleeps, and wakes on a core that is " +
      "idle. That took 23 µs in one run and 151 in another, and " +
      "synckit 119 and 37: the system decides whether both threads " +
      "share a core.",
  },
  {
    group: "sync_calls",
    rows: /start and first call/,
    text: "Both start a thread, which takes about 70 ms, and a call takes " +
      "less than 0.1 ms. So the ratio is 1, but for the noise.",
  },
  {
    group: "synchronizers",
    rows: /blocking round trip|a round of 2 threads/,
    text:
      "See [round_trip](#round_trip): the floor has two states. Condition " +
      "is slowest in Node 20, where an idle core takes 25 to 30 µs to " +
      "wake: once both threads sleep at each wait, each one's spinning " +
      "ends before the other is awake, and so they go on sleeping.",
  },
  {
    group: "synchronizers",
    rows: /async/,
    text: "See [round_trip](#round_trip). A condition also takes its mutex " +
      "again after each wake.",
  },
  {
    group: "synchronizers",
    rows: /^StripedCounter/,
    text: "The floor is one `Atomics.add` of JavaScript on a word that no " +
      "other thread touches; the row below it says how much faster that is " +
      "than a shared word. So the target is at the limit of what stripes can " +
      "give to two threads.",
  },
  {
    group: "twins",
    rows: /^(Mutex|MpmcQueue), .*native C's$/,
    text: "Both rivals take several tenths of a second for a turn, and the " +
      "state of the core changes meanwhile (see [kernel](#kernel)). So native " +
      "C alone takes 22 to 46 ns for a lock and its unlock, and 46 to 211 ns " +
      "for an element from one thread to another. The group kernel compares " +
      "turns of a millisecond: there the same two functions of a lock, called " +
      "from JavaScript, take 22 to 29 ns. Both compilers make a locked " +
      "instruction of each exchange.",
  },
  {
    group: "twins",
    rows: /^WorkCounter, next, alone/,
    text: "`next` is one exchange. In WebAssembly it took 4.1 ns in some " +
      "turns and 7.5 in others, natively 4.4 in all. The cause was not found.",
  },
  {
    group: "twins",
    rows: /Semaphore, acquire/,
    text: "An acquire and a release have two locked instructions in both " +
      "languages. On this processor these take 5 to 6 ns, so what " +
      "WebAssembly does beside them counts for more. What takes these " +
      "4 ns was not found.",
  },
  {
    group: "twins",
    rows: /^LockFreeQueue.*MpmcQueue$/,
    text:
      "See [lock_free_queue](#lock_free_queue). In JavaScript the price is " +
      "hidden behind the calls of `Atomics`; in WebAssembly, what counts are " +
      "the exchanges and the lines that move. A push and a pop have five " +
      "exchanges and ten lines that can move, where `MpmcQueue` has two " +
      "exchanges, two stores and four lines: [Scaling](scaling.md) counts " +
      "them. Tried in native C, beside load: entries of neighbouring tickets " +
      "in different lines (183 and 232 ns, where the queue takes 176 and 174 " +
      "ns for one and two threads a side), and hints that are written for each " +
      "eighth ticket, not for each second (151 and 207 ns). Neither is better " +
      "in both rows.",
  },
  {
    group: "twins",
    rows: /^SpscQueue, /,
    text: "C compiled to WebAssembly has sequentially consistent accesses " +
      "only, where native C has acquire and release, so each store of an " +
      "index is an exchange there. A record of 64 bytes also depends on " +
      "the state of the cores, as [native](#native) says.",
  },
  {
    group: "value",
    rows: /./,
    text:
      "[Notes](performance_notes.md#objects) say what writing and reading " +
      "take. msgpackr finds no references, which take a tenth of the " +
      "writing here.",
  },
];

/** The finding about a row, if there is one. */
export function noteOn(group: string, row: string): Note | undefined {
  return NOTES.find((note) => note.group === group && note.rows.test(row));
}
