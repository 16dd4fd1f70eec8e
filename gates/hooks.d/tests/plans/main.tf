data "aws_vpc" "main" {}

resource "aws_security_group" "bastion" {
  for_each = toset(["a"])
  vpc_id   = data.aws_vpc.main.id
}

module "data" {
  source = "./modules/data"
}
