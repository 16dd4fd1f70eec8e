//! The program: the command line of the library.

fn main() -> std::process::ExitCode {
    hookrun::main()
}

/// Keeps a closed stdin from becoming `/dev/null`, which the standard library opens for it: that is
/// how a caller says that there is no event. What takes its place cannot be read.
#[expect(unsafe_code, reason = "only the loader calls something before the standard library")]
mod closed_stdin {
    use rustix::fs::{Mode, OFlags};
    use rustix::io::{Errno, fcntl_getfd};

    // SAFETY: this section holds pointers to functions, which the loader calls once before `main`.
    #[used]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
    static BEFORE_MAIN: extern "C" fn() = fill;

    extern "C" fn fill() {
        if fcntl_getfd(rustix::stdio::stdin()) != Err(Errno::BADF) {
            return;
        }
        // It gets the lowest number that is free, which is that of stdin.
        let unreadable = rustix::fs::open("/dev/null", OFlags::WRONLY, Mode::empty());
        std::mem::forget(unreadable);
    }
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
            unsafe { self.lock().realloc(pointer, layout.size(), layout.align(), size) }
        }
    }
}
