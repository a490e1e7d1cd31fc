package realerrors_test

import (
	"context"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/a2aexec/a2aexec/errcode"
)

func redisClient(t *testing.T, o *redis.Options) *redis.Client {
	t.Helper()
	o.MaxRetries, o.DisableIdentity, o.Protocol = -1, true, 2
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// silentLogger drops what the library says about the connections that fail as they should.
type silentLogger struct{}

func (silentLogger) Printf(context.Context, string, ...any) {}

func redisErrors(t *testing.T) []sample {
	t.Helper()
	redis.SetLogger(silentLogger{})
	ctx := t.Context()
	server := miniredis.RunT(t)
	client := redisClient(t, &redis.Options{Addr: server.Addr()})
	missing := client.Get(ctx, "k").Err()
	_ = client.Set(ctx, "s", "text", 0)
	samples := []sample{
		{"nil", missing, want{code: errcode.NotFound, reason: "redis_nil"}},
		{"wrong type", client.LPush(ctx, "s", 1).Err(), want{code: errcode.Internal, reason: "redis_error"}},
	}
	for text, expected := range map[string]want{
		"LOADING Redis is loading the dataset in memory":       {code: errcode.UpstreamUnavailable, reason: "loading_error"},
		"CLUSTERDOWN The cluster is down":                      {code: errcode.UpstreamUnavailable, reason: "cluster_down_error"},
		"MASTERDOWN Link with MASTER is down":                  {code: errcode.UpstreamUnavailable, reason: "master_down_error"},
		"TRYAGAIN Multiple keys request during rehashing":      {code: errcode.UpstreamUnavailable, reason: "try_again_error"},
		"READONLY You can't write against a read only replica": {code: errcode.UpstreamUnavailable, reason: "read_only_error"},
		"NOPERM this user has no permissions":                  {code: errcode.AuthRequired, reason: "permission_error"},
		"ERR max number of clients reached":                    {code: errcode.UpstreamUnavailable, reason: "max_clients_error"},
		"ERR unknown command":                                  {code: errcode.Internal, reason: "redis_error"},
	} {
		server.SetError(text)
		samples = append(samples, sample{text, client.Get(ctx, "k").Err(), expected})
	}
	locked := miniredis.RunT(t)
	locked.RequireAuth("secret")
	pool := redisClient(t, &redis.Options{Addr: server.Addr(), PoolSize: 1, PoolTimeout: time.Millisecond})
	server.SetError("")
	held := pool.Conn()
	t.Cleanup(func() { _ = held.Close() })
	_ = held.Ping(ctx)
	return append(samples,
		sample{"no password", redisClient(t, &redis.Options{Addr: locked.Addr()}).Get(ctx, "k").Err(), want{code: errcode.AuthRequired, reason: "auth_error"}},
		sample{"wrong password", redisClient(t, &redis.Options{Addr: locked.Addr(), Password: "x"}).Get(ctx, "k").Err(), want{code: errcode.AuthRequired, reason: "auth_error"}},
		sample{"refused", redisClient(t, &redis.Options{Addr: refusing(t)}).Get(ctx, "k").Err(), want{code: errcode.UpstreamUnavailable, reason: "connection_refused"}},
		sample{"pool timeout", pool.Get(ctx, "k").Err(), want{code: errcode.UpstreamTimeout, reason: "pool_timeout"}},
	)
}
