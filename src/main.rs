//! The program: the command line of the library.

fn main() -> std::process::ExitCode {
    hookrun::main()
}

/// dlmalloc behind a lock of the standard library.
///
/// musl's own allocator is slow. So is the one that dlmalloc offers as a whole: musl's lock around
/// it, and its check of sizes, take a tenth of the instructions of a run.
#[cfg(target_env = "musl")]
#[expect(unsafe_code, reason = "an allocator has no safe interface")]
mod allocator {
    use std::alloc::{GlobalAlloc, Layout};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use dlmalloc::Dlmalloc;

    #[global_allocator]
    static ALLOCATOR: LockedAllocator = LockedAllocator(Mutex::new(Dlmalloc::new()));

    struct LockedAllocator(Mutex<Dlmalloc>);

    impl LockedAllocator {
        /// The lock does not allocate, and nothing under it panics.
        fn lock(&self) -> MutexGuard<'_, Dlmalloc> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    // Inlined, they would add 5 % to the size of the program.
    //
    // SAFETY: everything is passed on, one call at a time, to an allocator with the same contract.
    // Its `c_free` takes what any of its other functions gave.
    unsafe impl GlobalAlloc for LockedAllocator {
        #[inline(never)]
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as above.
            unsafe { self.lock().malloc(layout.size(), layout.align()) }
        }

        #[inline(never)]
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as above.
            unsafe { self.lock().calloc(layout.size(), layout.align()) }
        }

        #[inline(never)]
        unsafe fn dealloc(&self, pointer: *mut u8, _: Layout) {
            // SAFETY: as above.
            unsafe { self.lock().c_free(pointer) }
        }

        #[inline(never)]
        unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            // SAFETY: as above.
            unsafe {
                self.lock()
                    .realloc(pointer, layout.size(), layout.align(), size)
            }
        }
    }
}
