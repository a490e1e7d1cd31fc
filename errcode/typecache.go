package errcode

import (
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
)

// typeCache holds what one table knows about error types. It grows with the error types of the
// program, a finite set, and is made to be read: a reader takes no lock.
type typeCache struct {
	rules []Rule
	// recent is a small cache in front of all, indexed by the address of the type.
	recent [256]atomic.Pointer[typeInfo]
	// all is replaced by a copy whenever a type is added.
	all     atomic.Pointer[map[reflect.Type]*typeInfo]
	writing sync.Mutex
}

// defaultTypes is the cache of every table without rules.
var defaultTypes typeCache

// info returns what is known about the type of err. Chains tend to repeat one wrapper, so last,
// which may be nil, is tried first.
func (c *typeCache) info(err error, last *typeInfo) *typeInfo {
	t := reflect.TypeOf(err)
	if last != nil && last.typ == t {
		return last
	}
	slot := &c.recent[reflect.ValueOf(t).Pointer()>>5%uintptr(len(c.recent))]
	if info := slot.Load(); info != nil && info.typ == t {
		return info
	}
	info := c.stored(t)
	slot.Store(info)
	return info
}

func (c *typeCache) stored(t reflect.Type) *typeInfo {
	if all := c.all.Load(); all != nil {
		if info := (*all)[t]; info != nil {
			return info
		}
	}
	return c.add(newTypeInfo(t, c.rules))
}

// add keeps info, unless another goroutine was faster, and returns what is kept.
func (c *typeCache) add(info *typeInfo) *typeInfo {
	c.writing.Lock()
	defer c.writing.Unlock()
	grown := make(map[reflect.Type]*typeInfo)
	if all := c.all.Load(); all != nil {
		if kept := (*all)[info.typ]; kept != nil {
			return kept
		}
		grown = maps.Clone(*all)
	}
	grown[info.typ] = info
	c.all.Store(&grown)
	return info
}
