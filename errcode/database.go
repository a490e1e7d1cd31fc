package errcode

import (
	"database/sql"
	"database/sql/driver"
	"reflect"
	"strings"
)

// sqlStates maps SQLSTATEs by prefix; the first that fits decides. Any other state is Internal.
var sqlStates = []struct {
	prefix string
	class  Class
}{
	{"08", static(UpstreamUnavailable, "")},
	{"57P0", static(UpstreamUnavailable, "")},
	{"53", static(UpstreamUnavailable, "")},
	{"40001", static(UpstreamUnavailable, "")},
	{"40P01", static(UpstreamUnavailable, "")},
	{"57014", static(UpstreamTimeout, "")},
	{"28", static(AuthRequired, "")},
	{"", static(Internal, "")},
}

// redisPrefixes maps the first word of what a Redis server answers. Any other answer is Internal.
var redisPrefixes = []struct {
	prefix string
	class  Class
}{
	{"redis: nil", static(NotFound, "redis_nil")},
	{"LOADING ", static(UpstreamUnavailable, "")},
	{"CLUSTERDOWN ", static(UpstreamUnavailable, "")},
	{"MASTERDOWN ", static(UpstreamUnavailable, "")},
	{"TRYAGAIN ", static(UpstreamUnavailable, "")},
	{"READONLY ", static(UpstreamUnavailable, "")},
	{"NOREPLICAS ", static(UpstreamUnavailable, "")},
	{"ERR max number of clients reached", static(UpstreamUnavailable, "")},
	{"NOAUTH ", static(AuthRequired, "")},
	{"WRONGPASS ", static(AuthRequired, "")},
	{"NOPERM ", static(AuthRequired, "")},
	{"", static(Internal, "")},
}

// databaseRows are the errors of database/sql and of the drivers people use.
func databaseRows() []row {
	states := make([]answer, len(sqlStates))
	for i, s := range sqlStates {
		states[i] = answer{"SQLSTATE " + s.prefix + "…", s.class}
	}
	states[len(states)-1].when = "another SQLSTATE"
	replies := make([]answer, len(redisPrefixes))
	for i, r := range redisPrefixes {
		replies[i] = answer{strings.TrimSpace(r.prefix) + " …", r.class}
	}
	replies[0].when = "redis: nil"
	replies[len(replies)-1].when = "another answer"
	return []row{
		{
			name: "no rows", values: []error{sql.ErrNoRows}, when: "sql.ErrNoRows",
			class: static(NotFound, "no_rows"),
		},
		{
			name: "database connection", values: []error{sql.ErrConnDone, driver.ErrBadConn}, when: "sql.ErrConnDone, driver.ErrBadConn",
			class: static(UpstreamUnavailable, "connection_closed"),
		},
		{
			name: "SQLSTATE", probe: sqlShape, answers: states,
			when: "a method SQLState() string, or a field of five bytes called SQLState, with",
		},
		{
			name: "Redis", method: reflect.TypeFor[redisError](), match: redisClass, answers: replies,
			when: "a method RedisError(), with the text",
		},
	}
}

type sqlStater interface{ SQLState() string }

func sqlShape(t reflect.Type) matcher {
	if t.Implements(reflect.TypeFor[sqlStater]()) {
		return func(err error) (Class, bool) { return stateClass(err.(sqlStater).SQLState()) } //nolint:errcheck // t implements it
	}
	f, ok := exported(t, "SQLState")
	if !ok || f.Type != reflect.TypeFor[[5]byte]() {
		return nil
	}
	return func(err error) (Class, bool) {
		state := fieldAs[[5]byte](err, f.Index)
		return stateClass(string(state[:]))
	}
}

const sqlStateLen = 5

func stateClass(state string) (Class, bool) {
	if len(state) != sqlStateLen || strings.Trim(state, "\x00") == "" {
		return Class{}, false
	}
	for _, s := range sqlStates {
		if strings.HasPrefix(state, s.prefix) {
			return s.class, true
		}
	}
	return Class{}, false
}

type redisError interface{ RedisError() }

func redisClass(err error) (Class, bool) {
	text := errorText(err)
	for _, r := range redisPrefixes {
		if strings.HasPrefix(text, r.prefix) {
			return r.class, true
		}
	}
	return Class{}, false
}
