package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"github.com/a2aexec/a2aexec/errcode"
)

// reasonUnknown is the reason of an error for a key that is not in the catalogue.
const reasonUnknown = "unknown_domain_code"

// Error makes the error of a key, with the message in the default language. The code, the reason,
// the message, the domain, the domain code, retriable, the delay and the source are those of the
// entry; the options come on top, so they win.
//
// It never fails: a key that is not in the catalogue gives INTERNAL_ERROR with the reason
// unknown_domain_code and the key in the details as "domainCode". The result may be shared by
// several calls, as an error never changes.
func (c *Catalog) Error(key Key, opts ...errcode.Option) *errcode.Error {
	return c.raise(key, nil, opts)
}

// ErrorContext is [Catalog.Error] with the message in the language that suits best what
// [WithLanguages] put into ctx.
func (c *Catalog) ErrorContext(ctx context.Context, key Key, opts ...errcode.Option) *errcode.Error {
	return c.raise(key, preferences(ctx), opts)
}

func (c *Catalog) raise(key Key, preferred []language.Tag, opts []errcode.Option) *errcode.Error {
	if it := c.item(key); it != nil {
		return it.make(preferred, opts)
	}
	shown := string(key)
	if len(shown) > maxKey {
		shown = shown[:maxKey]
	}
	shown = strings.ToValidUTF8(shown, "�")
	e := errcode.New(errcode.Internal, reasonUnknown,
		errcode.Domain(c.Domain()),
		errcode.Detail("domainCode", shown),
	).With(opts...)
	// The log tells causes, not details.
	return e.With(errcode.Cause(errors.Join(fmt.Errorf("the catalogue %q has no key %q", c.Domain(), shown), e.Unwrap())))
}

// Raiser makes the errors of one catalogue in one choice of languages. It never changes, so
// goroutines may share it. The zero value has an empty catalogue.
type Raiser struct {
	catalog   *Catalog
	preferred []language.Tag
}

// For returns a Raiser for languages, BCP 47 tags with the preferred one first: those of a tenant
// or a session, say. What is not a tag is skipped, and so is everything past the sixteenth.
func (c *Catalog) For(languages ...string) Raiser {
	return Raiser{catalog: c, preferred: parsePreferences(languages)}
}

// Error is [Catalog.Error] with the message in the language that suits the Raiser's best.
func (r Raiser) Error(key Key, opts ...errcode.Option) *errcode.Error {
	return r.catalog.raise(key, r.preferred, opts)
}

// ErrorContext is [Raiser.Error], but what [WithLanguages] put into ctx comes before the Raiser's
// languages.
func (r Raiser) ErrorContext(ctx context.Context, key Key, opts ...errcode.Option) *errcode.Error {
	return r.catalog.raise(key, slices.Concat(preferences(ctx), r.preferred), opts)
}
