package blueprint

import (
	"log/slog"

	"github.com/a2aexec/a2aexec/errcode"
)

// Option sets one thing about [WriteError] and [Handler]. A nil Option does nothing.
type Option interface{ apply(c *config) }

type optionFunc func(c *config)

func (f optionFunc) apply(c *config) { f(c) }

// Build sets how errors are made public: the redactor, the domain, whether internal texts are
// hidden. Default: the zero [errcode.Builder].
func Build(b errcode.Builder) Option {
	return optionFunc(func(c *config) { c.builder = b })
}

// Logger gets every failure with its full cause, INTERNAL_ERROR at level Error and the rest at
// Warn, under the correlation id that the client is sent too. Default, and nil: no log.
func Logger(l *slog.Logger) Option {
	return optionFunc(func(c *config) { c.logger = l })
}

// config is what the options say.
type config struct {
	builder errcode.Builder
	logger  *slog.Logger
}

func newConfig(opts []Option) *config {
	c := &config{}
	for _, o := range opts {
		if o != nil {
			o.apply(c)
		}
	}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	return c
}
