// SPDX-License-Identifier: GPL-2.0-or-later
// rust_names MS: names of Rust's older mangling.
use std::time::{Duration, Instant};

trait Burns {
    fn burn_in_trait(&self, time: Duration);
}

struct Stove;

impl Burns for Stove {
    #[inline(never)]
    fn burn_in_trait(&self, time: Duration) {
        let start = Instant::now();
        let mut sum = 0u64;
        while start.elapsed() < time {
            for i in 0..20000u64 {
                sum = std::hint::black_box(sum ^ i);
            }
        }
    }
}

mod kitchen {
    #[inline(never)]
    pub fn cook<T: super::Burns>(stove: &T, time: std::time::Duration) {
        stove.burn_in_trait(time);
        std::hint::black_box(());
    }
}

fn main() {
    let ms = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1000);
    println!("ready {}", std::process::id());
    kitchen::cook(&Stove, Duration::from_millis(ms));
}
