package storetest_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// ordered is a store whose lists have the newest status first, as A2A has it and
// the host's store in memory has not.
type ordered struct{ taskstore.Store }

func sound() taskstore.Store { return ordered{host()} }

// place is one in the order of lists, and as JSON a page token.
type place struct {
	At int64
	ID a2a.TaskID
}

func placeOf(t *a2a.Task) place {
	if t.Status.Timestamp == nil {
		return place{math.MaxInt64, t.ID}
	}
	return place{t.Status.Timestamp.UnixNano(), t.ID}
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(o.At, p.At), strings.Compare(string(o.ID), string(p.ID)))
}

func (s ordered) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	found, err := everyPage(ctx, s.Store, req)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b *a2a.Task) int { return placeOf(a).compare(placeOf(b)) })
	res := &a2a.ListTasksResponse{TotalSize: len(found), PageSize: cmp.Or(req.PageSize, 50)}
	if req.PageToken != "" {
		text, err := base64.RawURLEncoding.DecodeString(req.PageToken)
		var after place
		if err != nil || json.Unmarshal(text, &after) != nil || after.ID == "" {
			return nil, a2a.ErrParseError
		}
		found = slices.DeleteFunc(found, func(t *a2a.Task) bool { return placeOf(t).compare(after) <= 0 })
	}
	if res.Tasks = found; len(found) > res.PageSize {
		res.Tasks = found[:res.PageSize]
		text, err := json.Marshal(placeOf(found[res.PageSize-1]))
		if err != nil {
			return nil, err
		}
		res.NextPageToken = base64.RawURLEncoding.EncodeToString(text)
	}
	return res, nil
}

// everyPage gives the tasks of all pages.
func everyPage(ctx context.Context, s taskstore.Store, req *a2a.ListTasksRequest) (found []*a2a.Task, err error) {
	if _, err := s.List(ctx, &a2a.ListTasksRequest{PageSize: req.PageSize}); err != nil {
		return nil, err
	}
	all := *req
	all.PageSize, all.PageToken = 100, ""
	for {
		res, err := s.List(ctx, &all)
		if err != nil {
			return nil, err
		}
		found = append(found, res.Tasks...)
		if all.PageToken = res.NextPageToken; all.PageToken == "" {
			return found, nil
		}
	}
}
