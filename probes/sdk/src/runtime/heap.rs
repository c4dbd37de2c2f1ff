//! The heap of a component.
//!
//! Its first page is there from the start. For the host, to grow a memory and to shrink it again before the next run takes
//! about a quarter of the time of a run that does nothing else, and most runs need no more.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::memory_grow;
use core::cell::{Cell, UnsafeCell};
use core::ptr;

use dlmalloc::{Allocator, Dlmalloc};

/// Bytes of a page of WebAssembly's memory, and of the heap at the start.
const PAGE: usize = 64 << 10;

#[global_allocator]
static HEAP: Alone<Dlmalloc<Pages>> =
    Alone(UnsafeCell::new(Dlmalloc::new_with_allocator(Pages { first_given: Cell::new(false) })));

/// The first page. Its items are there for their alignment: that of the allocator's blocks.
static FIRST: Alone<[u64; PAGE / size_of::<u64>()]> = Alone(UnsafeCell::new([0; PAGE / size_of::<u64>()]));

/// What nobody else can have at the same time, because a component has one thread.
struct Alone<T>(UnsafeCell<T>);

#[cfg(target_feature = "atomics")]
compile_error!("the heap of a component is for one thread");

// SAFETY: the target has one thread; for one with threads, which has the feature "atomics", this does not compile.
unsafe impl<T> Sync for Alone<T> {}

// SAFETY: `Dlmalloc` keeps the contract. Each of its calls returns before the next one begins, so that no two exclusive
// borrows of it live at once: there is one thread, `Pages` calls nothing of this, and the panic handler allocates nothing.
unsafe impl GlobalAlloc for Alone<Dlmalloc<Pages>> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: access is exclusive, see above.
        unsafe { (*self.0.get()).malloc(layout.size(), layout.align()) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller promises that the block came from this heap with this layout; access is exclusive.
        unsafe { (*self.0.get()).free(block, layout.size(), layout.align()) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: access is exclusive.
        unsafe { (*self.0.get()).calloc(layout.size(), layout.align()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as for `dealloc`.
        unsafe { (*self.0.get()).realloc(block, layout.size(), layout.align(), size) }
    }
}

/// Where the heap has its memory from: the first page, then what the host grants.
struct Pages {
    /// Whether the first page is given out.
    first_given: Cell<bool>,
}

// SAFETY: each region is given out once: the first page once, and nothing else names it; what the memory grows by is new.
// Each has the length that is told, and is zero: the first page as it was compiled, the rest as WebAssembly has it. None
// ends at 2^32, where a pointer to its end would be 0: the host grants a memory at most 512 MiB.
unsafe impl Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        if size <= PAGE && !self.first_given.replace(true) {
            return (FIRST.0.get().cast(), PAGE, 0);
        }
        let pages = size.div_ceil(PAGE);
        match memory_grow::<0>(pages) {
            usize::MAX => (ptr::null_mut(), 0, 0),
            end => (ptr::with_exposed_provenance_mut(end * PAGE), pages * PAGE, 0),
        }
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        ptr::null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        PAGE
    }
}
