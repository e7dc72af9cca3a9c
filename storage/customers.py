"""Customers: create, find and delete them."""

from unicodedata import normalize

from sqlalchemy import delete, select

from models import ApiKey, Article, Customer, db
from storage import StorageError

DEMO_CUSTOMER = "Demo"  # created by seed.py
DEMO_BANNERS = "/static/banners/"  # path of the demo's pictures, which the service serves


def delete_customer(customer: Customer) -> tuple[int, int]:
    """Delete the customer in the session's transaction. Returns how many articles and keys were deleted with it."""
    connection = db.session.connection()
    articles = connection.execute(delete(Article).where(Article.customer_id == customer.id)).rowcount
    keys = connection.execute(delete(ApiKey).where(ApiKey.customer_id == customer.id)).rowcount
    db.session.delete(customer)
    return articles, keys


def find_customer(name: str) -> Customer | None:
    """Return the customer with this name, or None."""
    return db.session.scalar(select(Customer).filter_by(name=name))


def find_demo_url() -> str | None:
    """Return the base URL of the service in the demo's banners, or None if there is no demo."""
    is_demo = Customer.name == DEMO_CUSTOMER, Article.id.startswith("demo-"), Article.banner_url.contains(DEMO_BANNERS)
    url = db.session.scalar(select(Article.banner_url).join(Customer).where(*is_demo).limit(1))
    return url.partition(DEMO_BANNERS)[0] if url else None


def find_or_create_customer(name: str) -> tuple[Customer, bool]:
    """Return the customer with this name, created if necessary in the session's transaction, and whether it is new.

    The caller reports a new customer after the commit. Raises StorageError if the name looks like another customer's.
    """
    if customer := find_customer(name):
        return customer, False
    check_customer_name(name)
    customer = Customer(name=name)
    db.session.add(customer)
    db.session.flush()
    return customer, True


def check_customer_name(name: str, renamed: Customer | None = None) -> None:
    """Raise StorageError if a customer other than `renamed` has a name that looks the same."""
    for customer in db.session.scalars(select(Customer)):
        if customer is not renamed and _appearance(customer.name) == _appearance(name):
            reason = f"There is already a customer {customer.name!r}, whose name looks the same"
            raise StorageError(f"{reason}. Use that customer, or choose another name.")


def _appearance(name: str) -> str:
    """Return what two names that look alike have in common: NFKC, without case and spaces."""
    return "".join(normalize("NFKC", normalize("NFKC", name).casefold()).split())
