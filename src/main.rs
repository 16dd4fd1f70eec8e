//! The `hookrun` program.

fn main() -> std::process::ExitCode {
    hookrun::main()
}

/// dlmalloc behind a standard library mutex.
///
/// musl's allocator is slow, and so is dlmalloc's own `GlobalAlloc`: its use of musl's lock and its
/// size checks take a tenth of a run's instructions.
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
        /// Neither allocates nor panics.
        fn lock(&self) -> MutexGuard<'_, Dlmalloc> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    // Inlining would add 5 % to the program's size.
    //
    // SAFETY: all calls are forwarded, one at a time, to an allocator with the same contract. Its
    // `c_free` accepts memory from all of its functions.
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
