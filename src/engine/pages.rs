//! Zeroed memory in large pages, for tables that a search reads at random.
//!
//! A processor keeps the addresses of some 2,000 pages at hand. With pages of 4 kB, look-ups in a transposition table mostly
//! miss that list and wait twice; with pages of 2 MiB they do not. Systems without large pages give small ones. Memory
//! is taken when it is first touched.

use std::{alloc, fmt, marker::PhantomData, mem, ops, slice};

use memmap2::MmapMut;

/// Bytes of a large page on x86-64, and on ARM where small ones have 4 kB.
const LARGE: usize = 2 << 20;

/// A type of which all bits zero are a value.
///
/// # Safety
/// They must be one.
pub(crate) unsafe trait Zero {}

/// Requests the memory of an item before it is needed.
#[inline]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching reads nothing.
        unsafe { _mm_prefetch(std::ptr::from_ref(item).cast(), _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// Items that begin at a large page.
pub(crate) struct Pages<T> {
    map: MmapMut,
    /// Bytes of the map before the first item.
    before: usize,
    len: usize,
    items: PhantomData<T>,
}

impl<T: Zero> Pages<T> {
    /// Creates `len` items, all bits zero. Ends the process if there is no memory for them, as a vector does.
    pub(crate) fn zeroed(len: usize) -> Self {
        const { assert!(mem::align_of::<T>() <= LARGE && !mem::needs_drop::<T>()) };
        let layout = alloc::Layout::array::<T>(len).unwrap_or(alloc::Layout::new::<T>());
        let map = len.checked_mul(mem::size_of::<T>()).and_then(|bytes| bytes.checked_next_multiple_of(LARGE));
        let map = map.and_then(|bytes| MmapMut::map_anon(bytes.checked_add(LARGE)?).ok());
        let map = map.unwrap_or_else(|| alloc::handle_alloc_error(layout));
        // An error means that the kernel has no large pages.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        let before = map.as_ptr().align_offset(LARGE);
        Self { map, before, len, items: PhantomData }
    }
}

impl<T> ops::Deref for Pages<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: behind `before`, where the address is a multiple of `LARGE`, the map has room for `len` items. They are zero,
        // which is a value of the type, or were written as such a value.
        unsafe { slice::from_raw_parts(self.map.as_ptr().add(self.before).cast(), self.len) }
    }
}

impl<T> ops::DerefMut for Pages<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the map is borrowed for as long.
        unsafe { slice::from_raw_parts_mut(self.map.as_mut_ptr().add(self.before).cast(), self.len) }
    }
}

impl<T: Zero + Copy> Clone for Pages<T> {
    fn clone(&self) -> Self {
        let mut clone = Self::zeroed(self.len);
        clone.copy_from_slice(self);
        clone
    }
}

impl<T: fmt::Debug> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: PartialEq> PartialEq for Pages<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Pages<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    // SAFETY: an integer.
    unsafe impl Zero for u64 {}

    #[test]
    fn items_are_zero_and_aligned() {
        let mut pages = Pages::<u64>::zeroed(LARGE / 8 + 1);
        assert!(pages.iter().all(|item| *item == 0));
        assert_eq!(pages.as_ptr().align_offset(LARGE), 0);
        pages[LARGE / 8] = 7;
        assert_eq!(pages.clone()[LARGE / 8], 7);
    }
}
