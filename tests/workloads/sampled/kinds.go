// SPDX-License-Identifier: GPL-2.0-or-later

// Goroutines that come and go, grow their stacks, collect, sort and compress, for ever.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"sync"
)

type item struct {
	ID    int
	Name  string
	Parts []float64
}

func descend(n int) int {
	var pad [128]byte
	pad[n%128] = byte(n)
	if n == 0 {
		return int(pad[0])
	}
	return descend(n-1) + int(pad[n%128])
}

func work(seed int, pattern *regexp.Regexp) int {
	items := make([]item, 300)
	for i := range items {
		items[i] = item{(i * 7919 * (seed + 1)) % 997, fmt.Sprintf("name %d", i), []float64{1.5, float64(i)}}
	}
	sort.Slice(items, func(i, j int) bool { return items[i].ID < items[j].ID })
	text, err := json.Marshal(items)
	if err != nil {
		panic(err)
	}
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	writer.Write(text)
	writer.Close()
	sum := sha256.Sum256(out.Bytes())
	found := pattern.FindAllSubmatch(text, -1)
	defer func() { recover() }()
	if seed%7 == 0 {
		panic(seed)
	}
	return int(sum[0]) + len(found) + descend(200)
}

func main() {
	pattern := regexp.MustCompile(`"ID":(\d+)`)
	for round := 0; ; round++ {
		var group sync.WaitGroup
		channel := make(chan int, 4)
		for i := 0; i < 8; i++ {
			group.Add(1)
			go func(seed int) {
				defer group.Done()
				channel <- work(seed, pattern)
			}(round*8 + i)
		}
		go func() { group.Wait(); close(channel) }()
		total := 0
		for n := range channel {
			total += n
		}
	}
}
