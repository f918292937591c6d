/* For agents of the race tester: each has a cache of its own. */
EXPORT weft_slab_cache race_cache;
