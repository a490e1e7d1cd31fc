package executor

import (
	"net/http"
	"strings"

	"github.com/rs/cors"
)

// anyOrigin is for preflights of the card, which any web page may read: clients
// send A2A-Version with it (A2A v1.0 section 3.6.1), and browsers ask first
// whether they may.
var anyOrigin = cors.Options{
	AllowedOrigins: []string{"*"}, AllowedMethods: []string{http.MethodGet, http.MethodHead}, AllowedHeaders: []string{"*"},
	MaxAge: originMaxAge,
}

// originMaxAge is how long browsers may remember a preflight, in seconds.
const originMaxAge = 600

// crossOrigins lets web pages of all origins read the card, and those of
// [CORS] call the rest.
func (c *config) crossOrigins(next http.Handler) http.Handler {
	preflight, rest := cors.New(anyOrigin).Handler(next), next
	if len(c.origins) > 0 {
		rest = cors.New(c.crossOrigin()).Handler(next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isCard := strings.TrimSuffix(r.URL.EscapedPath(), "/") == c.prefix+pathCard
		switch {
		case !isCard:
			rest.ServeHTTP(w, r)
		case r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "":
			preflight.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r) // the card itself says who may read it
		}
	})
}
