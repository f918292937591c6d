/*
 * weft_interprocess.hpp - tells Boost.Interprocess that this POSIX has neither
 * robust mutexes nor named semaphores, which weft_pthread.h refuses. Boost then
 * uses the others, and makes named mutexes and semaphores of shared memory.
 */
#ifndef WEFT_INTERPROCESS_HPP
#define WEFT_INTERPROCESS_HPP

#include <boost/interprocess/detail/workaround.hpp>

#undef BOOST_INTERPROCESS_POSIX_ROBUST_MUTEXES
#undef BOOST_INTERPROCESS_POSIX_NAMED_SEMAPHORES
#undef BOOST_INTERPROCESS_NAMED_MUTEX_USES_POSIX_SEMAPHORES
#undef BOOST_INTERPROCESS_NAMED_SEMAPHORE_USES_POSIX_SEMAPHORES

#endif /* WEFT_INTERPROCESS_HPP */
