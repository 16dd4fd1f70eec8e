
resource "aws_db_instance" "orders" {
  storage_encrypted = true
}
