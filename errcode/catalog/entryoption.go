package catalog

import (
	"slices"
	"time"
)

// EntryOption sets one thing of an [Entry]. Options are applied in order. A nil EntryOption does
// nothing.
type EntryOption interface{ apply(*Entry) }

type entryOptionFunc func(*Entry)

func (f entryOptionFunc) apply(e *Entry) { f(e) }

// Title adds the text in another language, given as a BCP 47 tag such as "ko" or "pt-BR".
func Title(language, title string) EntryOption {
	return entryOptionFunc(func(e *Entry) {
		t := text{lang: language, value: title}
		e.row.title.value = append(slices.Clip(e.row.title.value), t)
	})
}

// Retriable says whether the same request may succeed later. Default: that of the code.
func Retriable(yes bool) EntryOption {
	return entryOptionFunc(func(e *Entry) { e.row.retriable = given(yes, spot{}) })
}

// RetryAfter tells clients how long to wait, in whole milliseconds, rounded up; zero means at
// once, a negative duration is a fault. Default: unset, clients back off on their own.
func RetryAfter(d time.Duration) EntryOption {
	if rest := d % time.Millisecond; rest > 0 {
		d += time.Millisecond - rest
	}
	return entryOptionFunc(func(e *Entry) { e.row.delay = given(d, spot{}) })
}

// Source tells where the failure happens, as system:locator; see errcode.ValidSource. Default:
// none.
func Source(s string) EntryOption {
	return entryOptionFunc(func(e *Entry) { e.row.source = given(s, spot{}) })
}
