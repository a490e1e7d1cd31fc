package realerrors_test

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
)

func credentials(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
}
