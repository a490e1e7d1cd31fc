package realerrors_test

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	azure "github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"google.golang.org/api/option"
	"google.golang.org/api/translate/v2"

	"github.com/a2aexec/a2aexec/errcode"
)

// longest is the longest delay there is, in milliseconds.
const longest = math.MaxInt64 / int64(time.Millisecond)

func googleErrors(t *testing.T) []sample {
	t.Helper()
	call := func(r reply) error {
		service, err := translate.NewService(t.Context(), option.WithEndpoint(answering(t, r)), option.WithoutAuthentication())
		if err != nil {
			t.Fatal(err)
		}
		_, err = service.Languages.List().Do()
		return err
	}
	after := map[string]string{"Retry-After": "3"}
	return []sample{
		{"400", call(reply{status: 400}), want{code: errcode.Internal, reason: "googleapi_error"}},
		{"401", call(reply{status: 401}), want{code: errcode.AuthRequired, reason: "googleapi_error"}},
		{"403", call(reply{status: 403}), want{code: errcode.AuthRequired, reason: "googleapi_error"}},
		{"403 forbidden", call(reply{status: 403, body: reasonBody("forbidden")}), want{code: errcode.AuthRequired, reason: "googleapi_error"}},
		{"403 user rate", call(reply{status: 403, body: reasonBody("userRateLimitExceeded"), header: after}), want{errcode.RateLimited, "googleapi_error", false, 3000}},
		{"403 rate", call(reply{status: 403, body: reasonBody("rateLimitExceeded")}), want{code: errcode.RateLimited, reason: "googleapi_error"}},
		{"403 quota", call(reply{status: 403, body: reasonBody("quotaExceeded")}), want{code: errcode.RateLimited, reason: "googleapi_error"}},
		{"502", call(reply{status: 502, header: after}), want{errcode.UpstreamUnavailable, "googleapi_error", false, 3000}},
		{"404", call(reply{status: 404, body: `{"error":{"code":404,"message":"m"}}`}), want{code: errcode.NotFound, reason: "googleapi_error"}},
		{"410", call(reply{status: 410}), want{code: errcode.NotFound, reason: "googleapi_error"}},
		{"429", call(reply{status: 429, header: after}), want{errcode.RateLimited, "googleapi_error", false, 3000}},
		{"429 for ever", call(reply{status: 429, header: map[string]string{"Retry-After": "10000000000"}}), want{errcode.RateLimited, "googleapi_error", false, longest}},
		{"429 until a date", call(reply{status: 429, header: map[string]string{"Retry-After": "Fri, 31 Dec 9999 23:59:59 +0000"}}), want{errcode.RateLimited, "googleapi_error", false, longest}},
		{"429 details", call(reply{status: 429, body: quotaBody}), want{errcode.RateLimited, "googleapi_error", false, 34500}},
	}
}

// reasonBody is how Google's older APIs say why they refuse.
func reasonBody(reason string) string {
	return `{"error":{"code":403,"message":"m","errors":[{"reason":"` + reason + `","message":"m","domain":"usageLimits"}]}}`
}

func azureErrors(t *testing.T) []sample {
	t.Helper()
	call := func(r reply) error {
		pipeline := azure.NewPipeline("m", "v1", azure.PipelineOptions{}, &policy.ClientOptions{Retry: policy.RetryOptions{MaxRetries: -1}})
		req, err := azure.NewRequest(t.Context(), http.MethodGet, answering(t, r))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := pipeline.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		return azure.NewResponseError(resp)
	}
	return []sample{
		{"401", call(reply{status: 401}), want{code: errcode.AuthRequired, reason: "response_error"}},
		{"404", call(reply{status: 404}), want{code: errcode.NotFound, reason: "response_error"}},
		{"409", call(reply{status: 409}), want{code: errcode.Internal, reason: "response_error"}},
		{"429", call(reply{status: 429, header: map[string]string{"x-ms-retry-after-ms": "250"}}), want{errcode.RateLimited, "response_error", false, 250}},
		{"429 for ever", call(reply{status: 429, header: map[string]string{"retry-after-ms": "99999999999999999999"}}), want{errcode.RateLimited, "response_error", false, longest}},
		{"429 twice", call(reply{status: 429, header: map[string]string{"retry-after-ms": "100", "Retry-After": "60"}}), want{errcode.RateLimited, "response_error", false, 60_000}},
		{"503", call(reply{status: 503, header: map[string]string{"Retry-After": "4"}}), want{errcode.UpstreamUnavailable, "response_error", false, 4000}},
	}
}

func awsErrors(t *testing.T) []sample {
	t.Helper()
	get := func(url string) error {
		client := s3.New(s3.Options{
			Region: "eu-central-1", BaseEndpoint: aws.String(url), UsePathStyle: true, RetryMaxAttempts: 1,
			Credentials: aws.CredentialsProviderFunc(credentials),
		})
		_, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
		return err
	}
	call := func(status int, code string, header map[string]string) error {
		body := ""
		if code != "" {
			body = "<Error><Code>" + code + "</Code><Message>m</Message></Error>"
		}
		if header == nil {
			header = map[string]string{}
		}
		header["Content-Type"] = "application/xml"
		return get(answering(t, reply{status: status, header: header, body: body}))
	}
	return []sample{
		{"404 NoSuchKey", call(404, "NoSuchKey", nil), want{code: errcode.NotFound, reason: "response_error"}},
		{"403 AccessDenied", call(403, "AccessDenied", nil), want{code: errcode.AuthRequired, reason: "response_error"}},
		{"400 ExpiredToken", call(400, "ExpiredToken", nil), want{code: errcode.AuthRequired, reason: "generic_api_error"}},
		{"400 InvalidRequest", call(400, "InvalidRequest", nil), want{code: errcode.Internal, reason: "response_error"}},
		{"503 SlowDown", call(503, "SlowDown", map[string]string{"Retry-After": "5"}), want{errcode.UpstreamUnavailable, "response_error", false, 5000}},
		{"500", call(500, "InternalError", nil), want{code: errcode.UpstreamUnavailable, reason: "response_error"}},
		{"403 throttled", call(403, "RequestThrottled", nil), want{code: errcode.RateLimited, reason: "generic_api_error"}},
		{"refused", get("http://" + refusing(t)), want{code: errcode.UpstreamUnavailable, reason: "connection_refused"}},
		{"smithy 429", smithyError(429, "", http.Header{"Retry-After": {"6"}}), want{errcode.RateLimited, "response_error", false, 6000}},
		{"smithy 400 throttled", smithyError(400, "ThrottlingException", nil), want{code: errcode.RateLimited, reason: "generic_api_error"}},
		{"smithy 400 not found", smithyError(400, "ResourceNotFoundException", nil), want{code: errcode.NotFound, reason: "generic_api_error"}},
		{"smithy without a response", fmt.Errorf("x: %w", &smithyhttp.ResponseError{Err: errors.New("y")}), want{code: errcode.Internal, reason: "response_error"}},
	}
}

func smithyError(status int, code string, header http.Header) error {
	return &smithy.OperationError{
		ServiceID: "DynamoDB", OperationName: "GetItem",
		Err: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: header}},
			Err:      &smithy.GenericAPIError{Code: code, Message: "m"},
		},
	}
}
